// One row of a power spectrum as the writers take it; its meaning is in
// runtime/observe/spectrum.hpp.
#pragma once

#include <cstdint>

namespace vphi::io {

struct SpectrumBin {
  double k = 0, power = 0, delta = 0;
  std::int64_t modes = 0;
};

}  // namespace vphi::io
