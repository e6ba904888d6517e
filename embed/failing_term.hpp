// Finds the term that made a run fail: evaluates the equations one step before, at the site where a
// value became NaN.
//
// The rates of the derived system (program units) are split into the terms of their sums, and each
// term is evaluated on the last good state. A term that is NaN there is the cause; otherwise the
// largest term in the rate of the variable is. Scalars are those at the whole step; a staggered
// scheme uses them half a step later, which does not change orders of magnitude. Terms with a
// symbol of unknown value are omitted.
#pragma once

#include <string>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

/// Lines of the message, each with a newline; empty where no cause is found.
std::string failing_term(const runtime::BrokenState& broken, const Compilation& compilation);

}  // namespace vphi::embed
