// Units in a model: which base they are measured in, and whether they agree.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Fills Resolved::units with every unit text of the model, in base units. Can fail: unknown unit.
void read_units(Resolved& resolved);

/// Checks sums, comparisons and arguments of functions where both sides carry a unit, and that the
/// step and the lattice are measured in lengths. A number without unit fits anywhere
/// (docs/rules.md rule 9), and so does a value computed from one in a way that leaves its
/// unit open.
void check_units(Resolved& resolved);

}  // namespace vphi::dsl
