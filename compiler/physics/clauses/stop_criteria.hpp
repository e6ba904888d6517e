// `until = t > 1000 or error(mean(x, over = path)) < 1e-3`: what ends a run.
//
// The parts of the outermost `or` that hold numbers of one instance are judged in the kernels, at
// every step and in each instance (System::until). Those that hold averages over the sweep or over
// time are judged by the runtime at every output; they become expectations that end the run
// (program/stop_criterion.hpp). A part of the first kind has to be there, because a target may
// never be reached.
#pragma once

#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Where a text of the command line is shown in messages: as `name`, `--until` or `--lattice`.
std::shared_ptr<const dsl::Source> given_text(const Context& d, const std::string& name,
                                              const std::string& text);

/// `until` of the command line or of `evolve`; null without.
dsl::ExprPtr until_expression(const Context& d);
/// The parts of the outermost `or`.
std::vector<dsl::ExprPtr> alternatives(const dsl::ExprPtr& condition);

}  // namespace vphi::physics
