// Integrators whose body is a composition of flows: kick, drift, kick, each for a part of the step.
//
// `v = v + dt/2*F(x)`, where F is the function in v's own equation, is a flow of the group of v for
// dt/2. A body (or a composition of bodies) that consists of such lines is a list of (group,
// length). Adjacent flows of the same group become one run with several parts. The last run of a
// step and the first of the next are joined as well. The stored state is then the one before the
// last run, whose parts are owed to the next step, or the one after the first run, which is then
// done ahead. The runs are divided into equal stages, so that one kernel serves all stages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/integrator/match.hpp"

namespace vphi::schedule {

/// The flow of group `equation` of the head for weight*dt.
struct Flow {
  int equation = 0;
  algebra::Expr weight;  ///< a number
};

/// The flows of a body; nothing where it is not a composition of flows.
std::optional<std::vector<Flow>> read_flows(const Integrator& integrator, const Head& head,
                                            algebra::Arena& arena);

/// Lengths in units of dt, one for each stage. `owed`: parts that the step before has left.
struct RunPart {
  std::vector<algebra::Expr> own, owed;
};
struct Run {
  int equation = 0;
  std::vector<RunPart> parts;
};

struct Composition {
  int stages = 1;
  std::vector<Run> runs;             ///< runs of one stage
  int owed_equation = -1;            ///< -1: nothing is owed, the state is synchronised
  std::vector<algebra::Expr> owed;   ///< lengths of the parts that are owed
  int ahead_equation = -1;           ///< -1: nothing is done ahead
  std::vector<algebra::Expr> ahead;  ///< lengths of the parts that are done ahead
  /// Length of the last run where it is joined with the first run of the next step.
  algebra::Expr before_ahead;
};

/// `exact[e]`: two successive flows of group e equal one flow of the summed length. `ahead`: where
/// the first and the last run are of one group, the first is done ahead; otherwise the last is
/// owed. `limited[e]`: each flow of the group ends with a limit, so flows are not joined.
Composition compose(const std::vector<Flow>& flows, const std::vector<bool>& exact, bool ahead,
                    algebra::Arena& arena, const std::vector<bool>& limited = {});

}  // namespace vphi::schedule
