// Finds the term that made a run fail: evaluates the equations one step before, at the site where a
// value became NaN.
//
// The rates of the derived system (program units) are split into the terms of their sums, and each
// is evaluated by the algebra's slow evaluator on the last good state. A term that is NaN there is
// the cause; otherwise the largest term in the rate of the variable is. Scalars are those of the
// whole step; a staggered scheme uses them half a step later, which does not change orders of
// magnitude. Terms with a symbol whose value is not known are left out.
#pragma once

#include <string>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

/// Lines for people, each ended by a newline; empty where nothing can be said.
std::string failing_term(const runtime::BrokenState& broken, const Compilation& compilation);

}  // namespace vphi::tools
