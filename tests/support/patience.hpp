// A factor for bounds on time in tests. These bounds detect work that grows with the square of the
// input; they must not fail on slow machines or with sanitizers.
#pragma once

namespace vphi {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kPatience = 20;
#else
constexpr double kPatience = 1;
#endif

}  // namespace vphi
