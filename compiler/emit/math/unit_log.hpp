// Logarithm of a uniform random number in f64 on GPUs.
//
// The device's function handles zero, infinity, denormal numbers and NaN. A uniform random number
// lies between 2^-33 and 1 and needs none of this.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"

namespace vphi::emit {

/// Name of the function, where it is faster than the device's; otherwise empty.
std::string unit_log(const algebra::Node& node, Precision precision, const Dialect& dialect);
/// Its text, at file scope.
Code unit_log_functions(const Dialect& dialect);

}  // namespace vphi::emit
