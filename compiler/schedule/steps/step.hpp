// The step of an integrator as sweeps. A body that is a composition of flows is made from these;
// any other body (Runge-Kutta, registers, friction) is made line by line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/integrator/composition.hpp"
#include "compiler/schedule/steps/site_loops.hpp"

namespace vphi::schedule {

/// Slots of every step, which the rest of the schedule reads and sets.
namespace slot {
inline constexpr const char* kStep = "step";        ///< number of steps done
inline constexpr const char* kStop = "stop";        ///< 1 once `until` holds
inline constexpr const char* kStarted = "started";  ///< 1 from the first step on
inline constexpr const char* kStage = "stage";      ///< number of the stage that runs next
inline constexpr const char* kLast = "last";        ///< 1 in the epilogue that ends a step
}  // namespace slot

/// A map in Fourier space between arrays with memory, which are given here instead of its buffers.
struct ArrayMap {
  program::FourierMap map;
  std::vector<int> from, to;
};

/// Sweeps of a flux scheme along one axis, an update of a chain, or what a step does up to the next
/// maps.
struct FluxPart {
  SiteLoops sweeps;
  std::vector<kernel::ScalarAssign> finish;  ///< assigned after them
  int solve = -1;  ///< index in System::solves: the part is this solve, without sweeps
  /// Of a solve: the first one of those of one form that stand side by side; -1: it stands alone.
  int leader = -1;
  std::vector<ArrayMap> maps = {};  ///< made after the sweeps
};

struct Stepping {
  std::vector<FluxPart> parts;          ///< run before `sweeps`, in an order given by `cycle`
  std::vector<std::vector<int>> cycle;  ///< for successive steps in turn: indices into `parts`
  /// Every step has each part once, one after the other: a part may use scalars of those before it.
  bool in_order = false;
  SiteLoops sweeps;  ///< of one stage
  int stages = 1;
  std::vector<kernel::ScalarAssign> finish;  ///< at the end: scalar state := its new value
  /// The flow that takes the stored state to the end of the step: its members and its lengths.
  std::vector<Member> missing_members;
  std::vector<Expr> missing;
  /// Runs once before the first step, where the first flow of each step is done ahead.
  SiteLoops first;
  std::vector<kernel::ScalarAssign> first_finish;
  /// What `first` stores follows from the state alone and may be computed anew at any step.
  bool first_renews = false;
  bool can_carry = false;  ///< the step has averages to carry (Ingredients::carries)
  bool can_keep = false;   ///< the step has recovered values to keep (Ingredients::keeps)
  int cold = 0;            ///< evaluations whose iterations have no earlier values to start from
  std::set<std::string> remarks;
};

/// The input of a step.
struct Ingredients {
  const physics::System& system;
  const Integrator& integrator;
  const physics::Options& options;  ///< options of the head, as the model sets them
  const Head& head;
  std::vector<Group> groups;
  /// Averages of the state at the start of a step are computed at the end of the step before.
  bool carries = false;
  /// Recovered values of the state at the start of a step stay in memory from the end of the one
  /// before (compiler/schedule/steps/kept_recoveries.hpp).
  bool keeps = false;
  std::map<int, int> pairs = {};  ///< Sharing::pairs
};

/// The end of a step whose kernels exist already: it advances the scalars (time, the number of the
/// step). Sets `sweeps` and `finish` of the result.
void move_clocks(const physics::System& system, Slots& slots, Storage& storage, Stepping& result);

/// Nothing where the members of a group depend on each other in a cycle.
std::optional<Stepping> make_flow_step(const Ingredients& from, const std::vector<Flow>& flows,
                                       bool ahead, Slots& slots, Storage& storage);

/// Nothing, with an error in `diagnostics`, where the body cannot be evaluated.
std::optional<Stepping> make_body_step(const Ingredients& from, const Shares& shares, Slots& slots,
                                       Storage& storage, dsl::Diagnostics& diagnostics);

/// Whether a step makes maps in Fourier space: the integrator's text takes functions of linear
/// operators, or the equations hold a spectral Laplacian.
bool makes_maps(const physics::System& system, const Head& head);

/// The stored state after one step of a body, in a block of its own; nothing where the body cannot
/// be evaluated. `draws` is the number of random numbers.
struct BodyResult {
  State state;
  int draws = 0;
};
std::optional<BodyResult> run_body(const Ingredients& from, const Shares& shares, Block& block,
                                   dsl::Diagnostics& diagnostics);

/// The synchronised state for outputs, as values of the block: parts owed are applied, parts done
/// ahead are undone.
State synchronised(Block& block, const Stepping& stepping);

}  // namespace vphi::schedule
