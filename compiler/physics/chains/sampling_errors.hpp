// Errors of Markov chains: E0770 to E0779.
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// Links in an action beside traces of closed loops.
Diagnostic action_not_invariant(Span span);
/// `method` needs an action that is a sum of traces, each linear in every link.
Diagnostic action_not_linear(Span span, const std::string& method, const std::string& why,
                             Span sample);
/// A mean or a total in an action of a trajectory.
Diagnostic action_of_reduction(Span span);
/// A field of the model that no action holds.
Diagnostic field_without_action(Span span, const std::string& field, Span sample);
/// A loop that passes a link twice.
Diagnostic link_twice(Span span, const std::string& method, const std::string& loop,
                      const std::string& link, Span sample);
/// No colouring closes around this axis.
Diagnostic colouring_misfit(Span span, const std::string& axis, std::int64_t extent,
                            std::int64_t multiple, int colours, const std::string& loops);
Diagnostic sample_option(Span span, const std::string& option, const std::string& method);
/// A field without links under `heatbath`, `metropolis`, `overrelax`; `whole`: of whole numbers.
Diagnostic local_update_of_field(Span span, const std::string& field, const std::string& method,
                                 bool whole);
Diagnostic sweeps_missing(Span span);
Diagnostic trajectories_missing(Span span);
/// An action that no level integrates, or two do; a level without integrator.
Diagnostic action_without_level(Span span, const std::string& action);
Diagnostic level_twice(Span span, const std::string& action);
Diagnostic level_without_scheme(Span span);
/// A level whose integrator is not a composition; `fitting` are those that would do.
Diagnostic no_composition(Span span, const std::string& integrator,
                          const std::vector<std::string>& fitting);

/// E0831: `init U = file(name)`, and there is no such file beside the model.
Diagnostic no_configuration(Span span, const std::string& name);

// A flow of links, E0778.
/// `why`: what stands there.
Diagnostic flow_not_of_loops(Span span, const std::string& why);
/// Gradients are carried along links, but the equation names no direction.
Diagnostic flow_without_direction(Span span);
/// The gradient by U[nu] in the equation of U[mu].
Diagnostic flow_of_another_direction(Span span);
Diagnostic flow_of_second_order(Span span, const std::string& links);
/// `d(S, U)` elsewhere than in the equation of U.
Diagnostic gradient_not_here(Span span, const std::string& links);

/// E0301: `fastest` decays as exp(-fastest*t), `limit` is that of the integrator for rate*dt.
Diagnostic flow_unstable(Span span, double dt, double most, double fastest, double limit);

}  // namespace vphi::physics::errors
