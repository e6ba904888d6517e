// Values that need no memory of their own, because what is stored anyway tells them. A step of
// several stages stores y = x + dt*F(x) for the neighbours. A later x + dt/2*(F + G) is then
// x + (y - x)/2 + dt/2*G, and F stays in the sweep that makes it. The rounding of y is that of any
// other stored value.
#pragma once

#include <vector>

#include "compiler/schedule/steps/block.hpp"

namespace vphi::schedule {

/// Rewrites items of later sweeps that read an array at the site itself alone, where an array of
/// its own sweep which neighbours read is a sum of it and of others. Those are not defined here, or
/// the same items read them already.
/// `sweeps`: of each item; -1 for those that are not needed.
void read_what_is_stored(std::vector<Item>& items, const std::vector<int>& sweeps);

}  // namespace vphi::schedule
