// The step of an integrator as sweeps: flows where the body is a composition of them, lines in
// order where it is anything else (Runge-Kutta, registers, friction).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/integrator/composition.hpp"
#include "compiler/schedule/steps/site_loops.hpp"

namespace vphi::schedule {

/// Slots that every step has; the rest of the schedule reads and sets them.
namespace slot {
inline constexpr const char* kStep = "step";        ///< steps done
inline constexpr const char* kStop = "stop";        ///< 1 once `until` holds
inline constexpr const char* kStarted = "started";  ///< 1 from the first step on
inline constexpr const char* kStage = "stage";      ///< stage of the step that runs next
inline constexpr const char* kLast = "last";        ///< 1 in the epilogue that ends a step
}  // namespace slot

/// Sweeps of a flux scheme along one axis.
struct FluxPart {
  SiteLoops sweeps;
  std::vector<kernel::ScalarAssign> finish;  ///< after them
};

struct Stepping {
  std::vector<FluxPart> parts;          ///< before `sweeps`, in an order that steps take in turn
  std::vector<std::vector<int>> cycle;  ///< places in `parts` of each of these orders
  SiteLoops sweeps;                     ///< of one stage
  int stages = 1;
  std::vector<kernel::ScalarAssign> finish;  ///< scalar state := its new value, at the end
  /// What takes the stored state to the end of the step: a flow and its lengths, of slots.
  std::vector<Member> missing_members;
  std::vector<Expr> missing;
  /// Run once before the first step, where the first flow of each step is done ahead.
  SiteLoops first;
  std::vector<kernel::ScalarAssign> first_finish;
  bool can_carry = false;  ///< such averages there are (Ingredients::carries)
  std::set<std::string> remarks;
};

/// Everything a step is made from.
struct Ingredients {
  const physics::System& system;
  const Integrator& integrator;
  const physics::Options& options;  ///< of the head, as the model sets them
  const Head& head;
  std::vector<Group> groups;
  /// Averages of the state at the start of a step are made at the end of the one before.
  bool carries = false;
};

/// The end of a step whose kernels are made already: scalars move on (time, the number of the
/// step), and nothing else. Sets `sweeps` and `finish` of the result.
void move_clocks(const physics::System& system, Slots& slots, Storage& storage, Stepping& result);

/// Nothing where the members of a group depend on each other in a cycle.
std::optional<Stepping> make_flow_step(const Ingredients& from, const std::vector<Flow>& flows,
                                       bool ahead, Slots& slots, Storage& storage);

/// Nothing where the body cannot be evaluated; then `diagnostics` says why.
std::optional<Stepping> make_body_step(const Ingredients& from, const Shares& shares, Slots& slots,
                                       Storage& storage, dsl::Diagnostics& diagnostics);

/// What one step of a body makes of the stored state, in a block of its own; nothing where the body
/// cannot be evaluated. `draws` counts its random numbers.
struct BodyResult {
  State state;
  int draws = 0;
};
std::optional<BodyResult> run_body(const Ingredients& from, const Shares& shares, Block& block,
                                   dsl::Diagnostics& diagnostics);

/// The synchronised state of outputs, in a copy: parts owed are applied, parts done ahead undone.
State synchronised(Block& block, const Stepping& stepping);

}  // namespace vphi::schedule
