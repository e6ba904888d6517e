// Functions for processors that compilers vectorise: tanh, sinh, cosh, tan, atan, atan2, asin,
// acos, asinh, acosh, atanh and erf out of exp, log, sin and cos (templates/math/vector_math.txt),
// for which there are vector libraries. A call of the C library takes 20 to 50 ns a site, these 2
// to 10. Errors: tests/emit/vector_math_test.cpp.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// "vphi_tanh_f64"; empty where the library's own is called.
std::string vector_function(algebra::Op op, Precision precision);

/// Their definitions, where the kernel has one of them at its sites or in its epilogue.
Code vector_functions_for(const kernel::Kernel& kernel, const Dialect& dialect);

}  // namespace vphi::emit
