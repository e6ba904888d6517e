// W0615: numbers of the text that the arithmetic of the sites rounds to a shorter one.
//
// 1 - 1e-10 is 1 in f32, so that a bound that keeps a velocity below that of light, or a value off
// a pole, keeps nothing. A number is reported that is not short, and is after rounding: it has at
// most 8 binary digits then. Numbers such as 0.1 have all the digits of their precision, and are
// never reported.
#pragma once

#include "compiler/model/plan.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// Adds a warning for each such number in the kernels of the plan, once.
void warn_of_rounded_numbers(const Plan& plan, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
