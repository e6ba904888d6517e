// Functions that compilers vectorise on processors: tanh, sinh, cosh, tan, atan, atan2, asin, acos,
// asinh, acosh, atanh and erf, made of exp, log, sin and cos, for which there are vector libraries
// (templates/math/vector_math.txt). They take 2 to 10 ns a site, a call of the C library 20 to 50.
// Errors: tests/emit/vector_math_test.cpp.
#pragma once

#include <string>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// "vphi_tanh_f64"; empty where the C library is called.
std::string vector_function(algebra::Op op, Precision precision);

/// Their definitions, where the kernel uses one of them at its sites or in its epilogue.
Code vector_functions_for(const kernel::Kernel& kernel, const Dialect& dialect);

}  // namespace vphi::emit
