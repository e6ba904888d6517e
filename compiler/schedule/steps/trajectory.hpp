// A trajectory of hybrid Monte Carlo as one step: launches without the host between them.
//
// Each level has an integrator of the library or of the model, read as a composition of flows
// (composition.hpp): kicks of its own action, and drifts, which are the level inside it, as many
// steps as that one says, or the drift of the links. Sexton and Weingarten, Nucl. Phys. B 380, 665
// (1992). Kicks of one level in a row are one. The list of flows is the same for every trajectory:
// one kernel for the kick of a level along an axis and one for the drift serve them all, with a
// length that a small kernel before each flow takes from a table. The difference of H, the choice
// and its random number are made in the epilogue of a kernel on the device.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// A kick of a level (by its place), or a drift of the links (-1), for a length of time.
struct TrajectoryFlow {
  int level = -1;
  long double length = 0;
};

/// One level as its integrator says: flows of its action and drifts, weights of a step.
struct LevelFlows {
  struct Flow {
    bool kick = false;
    long double weight = 0;
  };
  std::vector<Flow> flows;
  std::int64_t steps = 1;
};

/// All flows of a trajectory of this length.
std::vector<TrajectoryFlow> trajectory_flows(const std::vector<LevelFlows>& levels,
                                             long double length);

/// Nothing where an integrator is not a composition of flows; then `diagnostics` says so.
std::optional<Stepping> make_trajectory_step(const physics::System& system,
                                             const physics::Trajectory& trajectory, Slots& slots,
                                             Storage& storage, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
