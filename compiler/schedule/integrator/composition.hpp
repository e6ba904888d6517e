// A body that is a composition of flows: kick, drift, kick, each for a part of the step.
//
// `v = v + dt/2*F(x)` with the hole of v's own equation moves the group of v for dt/2. A body (or a
// composition of bodies) made of such lines only is a list of (group, length). Neighbours of the
// same group become one run with several parts; so do the last and the first run, across the end
// of the step: the stored state is then that before the last run, whose parts are owed to the next
// step; or that after the first run, which is then done ahead. What remains is cut into
// equal stages, so that one kernel serves them all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/integrator/match.hpp"

namespace vphi::schedule {

/// Moves group `equation` of the head for weight*dt.
struct Flow {
  int equation = 0;
  algebra::Expr weight;  ///< a number
};

/// Nothing where the body is anything else than a composition of flows.
std::optional<std::vector<Flow>> read_flows(const Integrator& integrator, const Head& head,
                                            algebra::Arena& arena);

/// Lengths in units of dt, one for each stage. `owed` is what the step before has left.
struct RunPart {
  std::vector<algebra::Expr> own, owed;
};
struct Run {
  int equation = 0;
  std::vector<RunPart> parts;
};

struct Composition {
  int stages = 1;
  std::vector<Run> runs;             ///< of one stage
  int owed_equation = -1;            ///< -1: nothing is owed, the state is synchronised
  std::vector<algebra::Expr> owed;   ///< lengths of the parts that are owed
  int ahead_equation = -1;           ///< -1: nothing is done ahead
  std::vector<algebra::Expr> ahead;  ///< lengths of the parts that are done ahead
  /// Where the last run of a step and the first of the next are one flow: the length of the last.
  algebra::Expr before_ahead;
};

/// `exact[e]`: two flows of group e in a row are one flow of the summed length. `ahead`: the first
/// run is done ahead, rather than the last one owed (where both are of one group). `limited[e]`:
/// each flow of the group ends with a limit, so none is joined with another.
Composition compose(const std::vector<Flow>& flows, const std::vector<bool>& exact, bool ahead,
                    algebra::Arena& arena, const std::vector<bool>& limited = {});

}  // namespace vphi::schedule
