// Pattern for several steps in one pass over memory, on GPUs: the march of march.hpp, in which all
// steps advance together plane by plane.
//
// Level 0 is the state in memory, level l the state after l steps, and the last level is stored.
// The planes of level 0 are copied to local memory as in a march of one step. New values of arrays
// with neighbours are written to a plane of local memory, which the next step reads one plane of
// the march later. New values of other arrays stay in registers. There is thus one barrier for each
// plane of the march, whatever the number of steps.
//
// A group computes a tile with margins around the sites that it stores. Their width is the reach of
// all steps but the first. Values there are correct for the early steps only, and neighbouring
// groups compute them as well. Tiles wrap around the box, so that they fit boxes of any extent.
//
// Each step has the same stencil sums in the same order, the same site function and the same
// scalars as by itself. Every group computes the scalars once, in local memory, by the epilogue of
// the step.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/walks/march_plan.hpp"

namespace vphi::emit {

/// Estimates by which several steps in one pass are compared with separate passes.
struct StepsEstimate {
  double computed = 1;  ///< sites computed per step for each site that is stored
  /// Numbers that a pass reads and stores, relative to one read and one store of each array.
  double moved = 1;
  double time = 1;  ///< time of a step, relative to that with a pass for each step
};

struct StepsShape {
  MarchShape march;
  int steps = 2;
  /// Vectors on each side of a row of the tile that are computed and not stored.
  int edge_vectors = 0;
  int edge_rows = 0;
  StepsEstimate estimate;
};

/// The best shape for `steps` steps, or nothing, with the reason in `why`. `job` has three
/// dimensions.
std::optional<StepsShape> choose_march_steps(const Job& job, int steps, std::string& why);
program::Kernel emit_march_steps(const Job& job, const Bindings& bindings, const StepsShape& shape);
/// Sets the margins of the tile. Returns whether it fits the device.
bool fit_march_steps(const Job& job, StepsShape& shape);

/// The number of steps in a pass for the kernel of one step: `wish`, or chosen by counts where that
/// is 0. Nothing, with the reason in `why`, where each step remains a launch.
std::optional<int> steps_of_a_pass(const kernel::Kernel& kernel, const TargetInfo& target,
                                   const Bindings& bindings, int wish, std::string& why);
/// The kernel of a pass (kernel::Kernel::together) with this tile. Throws std::invalid_argument
/// where it does not fit.
program::Kernel emit_steps_in(const kernel::Kernel& kernel, const TargetInfo& target,
                              const Bindings& bindings, StepsShape shape);
/// The same with the best tile.
program::Kernel emit_steps(const kernel::Kernel& kernel, const TargetInfo& target,
                           const Bindings& bindings);

}  // namespace vphi::emit
