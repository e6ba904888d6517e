// What a program says of its model beside its launches.
#pragma once

#include "compiler/model/plan.hpp"
#include "compiler/model/system.hpp"
#include "compiler/schedule/layout.hpp"

namespace vphi::schedule {

/// Before anything runs: the model's name and text, its box, its step, how many steps there are.
program::Program facts_of(const physics::System& system, const dsl::Resolved& resolved);

/// Once nothing is added to the tables any more: buffers, scalars with their first values, axes.
void add_tables(const physics::System& system, const Tables& tables, Plan& plan);

/// What each kernel costs, for people.
void add_costs(Plan& plan);

/// All kernels of a step share one sequence of random numbers: a draw that is needed in two of
/// them is the same number. The kernels of `initial` make the start, from a stream of their own.
void number_draws(const physics::System& system, const std::vector<program::Launch>& initial,
                  std::vector<kernel::Kernel>& kernels);

}  // namespace vphi::schedule
