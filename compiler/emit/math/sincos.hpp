// Sine and cosine of the same angle in emitted code, without a branch and the same on all devices.
//
// A site that needs both calls vphi_sin_* and vphi_cos_*. Both contain the same argument reduction
// and the same two polynomials, which the compiler of the device computes once. The error is below
// 2 units in the last place of 1 for angles up to 2^20 quarter turns. From 2^49 (f32: 2^21) on,
// where the spacing of the numbers is above 1/16, the result is NaN. For one of the two alone the
// function of a processor's library is cheaper.
#pragma once

#include <string>

#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {

/// The functions, at file scope; they need vphi_select_* before them.
Code sincos_functions(Precision precision, const Dialect& dialect);
/// Those of the functions that are called.
Code sincos_functions_for(const Calls& calls, const Dialect& dialect);
/// vphi_sin_f64, ...: `op` is Sin or Cos.
std::string sincos_function(algebra::Op op, Precision precision);

}  // namespace vphi::emit
