// Linear systems of one form, brought side by side in a list of updates.
//
// Fields of one operator (roots of a determinant, whole powers) have a solve each, with other
// updates between them. The order of the list is changed where no update reads what it did not read
// before, so that solves that differ in their right sides alone follow each other and may be made
// in one go (solver/columns.hpp). Values are the same in either order. Nothing fails.
#pragma once

#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::schedule {

/// The updates in their new order: solves of one form in one list, every other update in a list of
/// its own. They point into `updates`.
std::vector<std::vector<const physics::Update*>> side_by_side(
    const physics::System& system, const std::vector<physics::Update>& updates);

}  // namespace vphi::schedule
