// t as a count of steps.
#pragma once

#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

/// Whether t is the start time and the number of steps times dt.
bool counts_steps(const Motion& d);

/// A number that is whole and not negative but for rounding; else -1.
std::int64_t whole_number(long double number);

/// How many steps of dt make this time, where that is a whole number to rounding; else -1.
std::int64_t steps_of(const Motion& d, long double time);

/// A condition in which comparisons of t with whole numbers of steps do not depend on rounding:
/// the product of dt and a count may be rounded to either side of such a bound. The bound is moved
/// by half a step to the side where no t lies.
Expr by_steps(const Motion& d, Expr condition);

}  // namespace vphi::physics
