// Logarithm of a uniform random number in f64 on GPUs.
//
// The device's own function takes any argument: zero, infinity, denormal numbers, what is no
// number. A draw lies between 2^-33 and 1, and needs none of that.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"

namespace vphi::emit {

/// The function, where it is better than the device's own; else empty.
std::string unit_log(const algebra::Node& node, Precision precision, const Dialect& dialect);
/// Its text, at file scope.
Code unit_log_functions(const Dialect& dialect);

}  // namespace vphi::emit
