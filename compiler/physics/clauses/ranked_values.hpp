// The values of a sweep that lie within a class: `sweep event = ranked("name.h5:set", 0.95..1)`.
//
// The set has a number for each member of an ensemble, one an instance of an earlier run (of a
// series the last row). Members are put into the order of their numbers, equal ones in the order of
// their places, and those from the share a of them up to the share b are taken: classes that meet
// have no member in common and leave none out. A member whose number is not finite has no rank.
#pragma once

#include <vector>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// The places of the members, counted from 0, ascending. E0781 to E0784 where the file is none,
/// E0423 where a..b holds no member.
std::vector<double> ranked_places(const Setting& d, Lowerer& lower, const dsl::Expr& e);

}  // namespace vphi::physics
