// The end of a run: `until = t > 1000 or error(mean(x, over = path)) < 1e-3`.
//
// The condition is split at its outermost `or`. Parts that read one instance only are evaluated by
// kernels at every step and in each instance (System::until). Parts with averages over the sweep or
// over time are evaluated by the runtime at every output and end the run
// (program/stop_criterion.hpp). At least one part of the first kind is required, because an average
// may never reach its bound.
#pragma once

#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A text from the command line as a source for messages; `name` is "--until" or "--lattice".
std::shared_ptr<const dsl::Source> given_text(const Context& d, const std::string& name,
                                              const std::string& text);

/// The expression of `until` from the command line or from `evolve`; null where there is none.
dsl::ExprPtr until_expression(const Context& d);
/// The parts of the outermost `or`.
std::vector<dsl::ExprPtr> alternatives(const dsl::ExprPtr& condition);

}  // namespace vphi::physics
