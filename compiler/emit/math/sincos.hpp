// Sine and cosine of the same angle in emitted code, without a branch and the same on all devices.
//
// A site that wants both takes vphi_sin_* and vphi_cos_*: the compiler of the device sees the same
// reduction and the same two polynomials in both and makes them once. The error is below 2 units in
// the last place of 1 for angles up to 2^20 quarter turns; from 2^49 (f32: 2^21) on, where the
// spacing of the numbers is above a sixteenth, there is no value (NaN). Where one of the two is
// wanted alone the function of the device is the cheaper one.
#pragma once

#include <string>

#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {

/// The functions, at file scope; behind vphi_select_*.
Code sincos_functions(Precision precision, const Dialect& dialect);
/// Those that are called.
Code sincos_functions_for(const Calls& calls, const Dialect& dialect);
/// vphi_sin_f64, ...: `op` is Sin or Cos.
std::string sincos_function(algebra::Op op, Precision precision);

}  // namespace vphi::emit
