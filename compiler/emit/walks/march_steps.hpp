// Pattern for several steps in one pass over memory, on GPUs: the march of march.hpp, with the
// planes of all steps on their way at once.
//
// Level 0 is what memory holds, level l what l steps make of it, and the last level is stored. The
// planes of level 0 are copied to local memory as in a march of one step. What a step makes of an
// array with neighbours goes to a plane of local memory, from which the next step reads it one
// plane of the march later; what it makes of other arrays waits in registers. So a plane of the
// march has one barrier, however many steps it makes.
//
// A group computes a tile whose edges are wider than what it stores, by the reach of all steps but
// the first: what it computes there is right for the early steps alone, and neighbours compute the
// same numbers. Tiles go around the ends of the box, so that they fit boxes of any extent.
//
// A step does what it does alone: the same sums in the same order, the same site function, the
// same scalars. They are worked out once a group in local memory, by the epilogue of the step.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/walks/march_plan.hpp"

namespace vphi::emit {

/// Counts by which several steps in one pass are compared with as many passes.
struct StepsEstimate {
  double computed = 1;  ///< sites that a step computes for one that is stored
  double moved = 1;     ///< words that come through the last-level cache for one of the pass
  double time = 1;      ///< of a step, over that of one pass for each
};

struct StepsShape {
  MarchShape march;
  int steps = 2;
  int edge_vectors = 0;  ///< on each side of a row of the tile: computed and not stored
  int edge_rows = 0;
  StepsEstimate estimate;
};

/// The best shape for `steps` steps, or nothing, with the reason in `why`. `job` has three
/// dimensions.
std::optional<StepsShape> choose_march_steps(const Job& job, int steps, std::string& why);
program::Kernel emit_march_steps(const Job& job, const Bindings& bindings, const StepsShape& shape);
/// Sets the edges of the tile; whether it fits the device.
bool fit_march_steps(const Job& job, StepsShape& shape);

/// Steps in a pass of the kernel of one step, as the counts say or as the model wishes (0: by the
/// counts); nothing where a launch for each step is kept. `why`: the reason, for people.
std::optional<int> steps_of_a_pass(const kernel::Kernel& kernel, const TargetInfo& target,
                                   const Bindings& bindings, int wish, std::string& why);
/// The kernel of a pass (kernel::Kernel::together) with this tile. Throws std::invalid_argument
/// where it does not fit.
program::Kernel emit_steps_in(const kernel::Kernel& kernel, const TargetInfo& target,
                              const Bindings& bindings, StepsShape shape);
/// With the best tile.
program::Kernel emit_steps(const kernel::Kernel& kernel, const TargetInfo& target,
                           const Bindings& bindings);

}  // namespace vphi::emit
