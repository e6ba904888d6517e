// Where the instances of a kernel lie in memory that has an order of its sites.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// Whether places in memory count from the first instance: `first_place` of the group's instance is
/// then part of each place, and the pointers stay those of the parameters. A pointer of each array
/// that was moved to the instance would take two registers of every thread, some fifty of them in
/// the force of a determinant.
bool places_of_all_instances(const Job& job);

}  // namespace vphi::emit
