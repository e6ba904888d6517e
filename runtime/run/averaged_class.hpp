// Averages over a class of instances (program::Statistic::member_slot).
#pragma once

#include "program/program.hpp"
#include "runtime/run/ensemble.hpp"

namespace vphi::runtime {

/// Takes the value of the statistic from instances that are no members. Members by rank are those
/// whose places, in the order of their numbers among the instances that are averaged together, lie
/// between the shares; of equal numbers the earlier instance is first. A number that is not finite
/// has no rank.
/// Precondition: the statistic has a class.
void keep_class(const program::Program& program, const program::Statistic& statistic, Table& table);

}  // namespace vphi::runtime
