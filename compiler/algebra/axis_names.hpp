// Names of the axes of a lattice in texts and messages.
#pragma once

namespace vphi::algebra {

inline constexpr const char* kAxisNames[4] = {"x", "y", "z", "t"};

}  // namespace vphi::algebra
