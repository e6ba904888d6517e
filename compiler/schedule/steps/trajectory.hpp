// A trajectory of hybrid Monte Carlo as one step: a list of launches without actions of the host.
//
// Each level has an integrator of the library or of the model, read as a composition of flows
// (composition.hpp): kicks of its own actions, and drifts. A drift consists of the steps of the
// next inner level, or is the drift of the links (Sexton and Weingarten, Nucl. Phys. B 380, 665
// (1992)). Kicks of one level between two drifts are joined, also where other levels are kicked
// between them: all are at the same links. The list of flows is the same for every trajectory: one
// kernel for the kick of a level along an axis and one for the drift serve them all, with a length
// that a small kernel before each flow reads from a table. The change of H, the random number and
// the decision are computed in the epilogue of a kernel on the device.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// A kick of an action (by the index of its Trajectory::Level), or a drift of the links (-1), for a
/// length of time.
struct TrajectoryFlow {
  int level = -1;
  long double length = 0;
};

/// One level, as given by its integrator: kicks and drifts with their weights in a step. With
/// physics::kWithLevelBefore as its steps and no flows it is kicked wherever the one before it is.
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

/// Nothing, with an error in `diagnostics`, where an integrator is not a composition of flows.
std::optional<Stepping> make_trajectory_step(const physics::System& system,
                                             const physics::Trajectory& trajectory, Slots& slots,
                                             Storage& storage, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
