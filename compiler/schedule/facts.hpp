// The parts of a program other than its launches.
#pragma once

#include "compiler/model/plan.hpp"
#include "compiler/model/system.hpp"
#include "compiler/schedule/layout.hpp"

namespace vphi::schedule {

/// The model's name and text, its box, its step, the number of steps.
program::Program facts_of(const physics::System& system, const dsl::Resolved& resolved);

/// Adds buffers, scalars with their initial values, and axes from the complete tables.
void add_tables(const physics::System& system, const Tables& tables, Plan& plan);

/// Adds the costs of a kernel, or of each.
void add_cost(Plan& plan, std::size_t number);
void add_costs(Plan& plan);

/// Numbers the draws of all kernels of a step in one sequence: a draw that two kernels need is the
/// same number. The kernels of `initial`, which make the start, have a stream of their own.
void number_draws(const physics::System& system, const std::vector<program::Launch>& initial,
                  std::vector<kernel::Kernel>& kernels);

}  // namespace vphi::schedule
