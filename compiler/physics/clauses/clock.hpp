// Time as a number of steps.
#pragma once

#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

/// Whether t is the start time plus the number of steps times dt.
bool counts_steps(const Motion& d);

/// The nonnegative integer that equals `number` up to rounding; -1 where there is none.
std::int64_t whole_number(long double number);

/// The number of steps dt in this time; -1 where it is not an integer up to rounding.
std::int64_t steps_of(const Motion& d, long double time);

/// The condition, with comparisons of t with integer numbers of steps made independent of rounding.
/// The product of dt and a count may be rounded to either side of such a bound, so the bound is
/// moved by half a step, to where no t lies.
Expr by_steps(const Motion& d, Expr condition);

}  // namespace vphi::physics
