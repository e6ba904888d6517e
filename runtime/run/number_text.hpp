// Numbers in messages. The sign of a NaN has no meaning and is not printed.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace vphi::runtime {

/// "0.1234", "inf", "-inf" or "nan", with this many significant digits.
inline std::string number_text(double value, int digits) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}g}", value, digits);
}

}  // namespace vphi::runtime
