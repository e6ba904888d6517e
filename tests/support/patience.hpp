// How much longer than usual a test may wait: bounds on time guard against work that grows with the
// square of the input, not against a slow machine, and sanitizers slow everything down.
#pragma once

namespace vphi {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kPatience = 20;
#else
constexpr double kPatience = 1;
#endif

}  // namespace vphi
