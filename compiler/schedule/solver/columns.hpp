// Which systems are solved in one go, so that a round loads what the operator reads once for all.
//
// Systems with one operator and solver (LinearSystem::like) that the same outputs want are the
// columns of one matrix of right sides, and so are fields of one operator in a trajectory. Some of
// them at a time have a round in common: its kernels read a link once and apply it to each. How
// many follows from the registers of a GPU's thread, and divides the number of columns; `together =
// k` of the model's text asks for a number. Refused here: a number that cannot be obeyed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// The place of a system among those that are solved in one go.
struct ColumnPlace {
  /// The first system with this operator, or of the go where each has arrays of its own: index in
  /// System::solves.
  std::size_t first = 0;
  int together = 1;                  ///< systems in one go
  int products = 0;                  ///< with earlier solutions, in one sweep; 0: all
  std::vector<std::size_t> systems;  ///< these, in order; empty: the system is another one's
};

struct ColumnPlan {
  std::map<std::size_t, ColumnPlace> places;  ///< by index in System::solves
  std::vector<std::string> remarks;
};

/// `launched`: for each list of launches of its own, the systems that are solved in it. `in_step`:
/// systems of a step, those of one form that stand side by side in one list
/// (steps/side_by_side.hpp). `registers`: of a thread; 0: a processor, whose registers do not hold
/// one right side, so that several share nothing. Nothing, with an
/// error in `diagnostics`, where `together` cannot be obeyed.
std::optional<ColumnPlan> plan_columns(const physics::System& system,
                                       const std::vector<std::set<std::size_t>>& launched,
                                       const std::vector<std::vector<std::size_t>>& in_step,
                                       int registers, dsl::Diagnostics& diagnostics);

/// How many numbers the application of an operator to `columns` fields holds at a time, at most,
/// with the operations in the order in which they were written.
int live_numbers(const physics::LinearMap& map, const std::vector<int>& unknowns, int columns);

}  // namespace vphi::schedule
