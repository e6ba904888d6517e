// Names of scalars of a program that are looked up outside of the compiler.
#pragma once

#include <string>

namespace vphi::program {

/// The derivative of the scale factor `scale` by the program's time.
inline std::string slope_of(const std::string& scale) { return scale + "_slope"; }

}  // namespace vphi::program
