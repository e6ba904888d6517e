// Averages over a class of instances (program/averaged_class.hpp).
#pragma once

#include "program/averaged_class.hpp"
#include "runtime/run/ensemble.hpp"

namespace vphi::runtime {

/// Takes the value of the statistic from instances that are no members. Members by rank are those
/// whose places, in the order of their numbers among the instances that are averaged together, lie
/// between the shares; of equal numbers the earlier instance is first. A number that is not finite
/// has no rank.
void keep_class(const program::Program& program, const program::Statistic& statistic,
                const program::AveragedClass& members, Table& table);

}  // namespace vphi::runtime
