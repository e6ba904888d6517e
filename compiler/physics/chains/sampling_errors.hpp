// Messages about Markov chains and flows of links, one function each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/gauge/colouring.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// An action contains links outside of traces of closed loops.
Diagnostic action_not_invariant(Span span);
/// `method` needs an action that is a sum of traces, each linear in every link.
Diagnostic action_not_linear(Span span, const std::string& method, const std::string& why,
                             Span sample);
/// Loops of links of a definition where their derivative is not taken through it.
Diagnostic loops_of_made_links(Span span, const std::string& links);
/// An action that is a determinant, under a method that draws one link after the other.
Diagnostic determinant_of_local_update(Span span, const std::string& method, Span sample);
/// Links of a group that is not there: SU(9), U(2). `near`: a group that is.
Diagnostic group_of_links(Span span, const std::string& group, const std::string& near);
/// E0901: neighbours beside the place of a site in one term of an action.
Diagnostic action_of_places(Span span);
/// A mean or a total in an action of fields at sites.
Diagnostic action_of_reduction(Span span, const std::string& method);
/// No action contains this field of the model.
Diagnostic field_without_action(Span span, const std::string& field, Span sample);
/// A loop that passes a link twice.
Diagnostic link_twice(Span span, const std::string& method, const std::string& loop,
                      const std::string& link, Span sample);
/// No colouring fits the extent of this axis.
Diagnostic colouring_misfit(Span span, const gauge::Misfit& misfit, const std::string& members,
                            const std::string& shared, const std::string& of);
Diagnostic sample_option(Span span, const std::string& option, const std::string& method);
/// `exchange = K` where K is swept and stands in no action.
Diagnostic action_without_axis(Span span, const std::string& axis, Span sweep);
/// A field at sites whose distribution cannot be drawn from directly.
Diagnostic no_heatbath(Span span, const std::string& field, const std::string& why, Span sample);
/// A field at sites beside links under `heatbath`, `metropolis`, `overrelax`.
Diagnostic links_beside_field(Span span, const std::string& field, const std::string& method);
/// An `int` field without `values`; `values` that are no set; `values` and `norm` of other types.
Diagnostic values_missing(Span span, const std::string& field);
Diagnostic values_wrong(Span span, const std::string& field, const std::string& why);
Diagnostic values_of_type(Span span, const std::string& field);
Diagnostic norm_of_type(Span span, const std::string& field);
/// A field with `values` or `norm` that an equation would move.
Diagnostic constrained_outside_of_chain(Span span, const std::string& field,
                                        const std::string& option);
/// Links of Z(N): E0833 where something else than single updates moves them, E0832 for other starts
/// than hot, cold and 1, E0774 for an option.
Diagnostic roots_outside_of_chain(Span span, const std::string& links, int roots);
/// Overrelaxation of Z(2).
Diagnostic signs_without_mirror(Span span, const std::string& links, Span sample);
Diagnostic start_not_a_root(Span span, const std::string& links, int roots);
Diagnostic option_of_roots(Span span, const std::string& option, int roots);
/// A field with `values` or `norm` under `sample hmc`.
Diagnostic constrained_in_trajectory(Span span, const std::string& field, bool discrete);
/// A start that is not, or may not be, one of the values; that has no length.
Diagnostic start_not_a_value(Span span, const std::string& field,
                             const std::vector<std::int64_t>& values);
Diagnostic start_without_length(Span span, const std::string& field, int components);
/// `~ hot` of a vector without `norm`.
Diagnostic hot_without_norm(Span span, const std::string& field);
/// `width` where values are discrete.
Diagnostic width_of_values(Span span, const std::string& field);
/// `tries` or `reunitarise` without links.
Diagnostic option_of_links(Span span, const std::string& option);
/// Metropolis of numbers without the size of its proposals.
Diagnostic width_missing(Span span, const std::string& field);
/// Local updates of an antiperiodic field whose sign the action sees.
Diagnostic odd_action(Span span, const std::string& field, const std::string& axis, Span sample);
/// Overrelaxation with an action of another form; `why` says what it is.
Diagnostic no_reflection(Span span, const std::string& field, const std::string& why, bool discrete,
                         Span sample);
Diagnostic sweeps_missing(Span span);
Diagnostic trajectories_missing(Span span);
/// An option for the solves of kicks, of a determinant that has none.
Diagnostic kicks_without_solves(Span span, const std::string& option);
/// A spinor of noise in trajectories that is not plainly `~ normal`.
Diagnostic noise_of_trajectory(Span span, const std::string& spinor);
/// W0771: an operator without links, whose determinant weighs nothing.
Diagnostic determinant_without_links(Span span, const std::string& op);
/// An action without a level, an action in two levels, a level without an integrator.
Diagnostic action_without_level(Span span, const std::string& action);
Diagnostic level_twice(Span span, const std::string& action);
Diagnostic level_without_scheme(Span span);
/// `iterations`, `residual`, `force`, `smallest` or `largest` of an action where no trajectory
/// integrates one.
Diagnostic of_no_trajectory(Span span, const std::string& what);
/// `smallest` or `largest` of an action without a fraction as a power.
Diagnostic action_without_fraction(Span span, const std::string& what, const std::string& action,
                                   Span declared);
/// `logdet` of an action whose determinants have no part at the site with links.
Diagnostic action_without_logarithm(Span span, const std::string& action, Span declared);
/// `iterations` or `residual` of an action that is not a determinant.
Diagnostic action_without_solves(Span span, const std::string& what, const std::string& action,
                                 Span declared);
/// `even_odd = on` for an operator without a Schur complement; `why`: which term, or the box.
/// `otherwise`: what happens without the option.
Diagnostic no_halves(Span span, const std::string& op, const std::string& why,
                     const std::string& otherwise);
/// A fraction as the power of a determinant that cannot be had.
Diagnostic fraction_of_determinant(Span span, const std::string& problem, const std::string& fix);
/// The integrator of a level is not a composition; `fitting` are integrators that are.
Diagnostic no_composition(Span span, const std::string& integrator,
                          const std::vector<std::string>& fitting);

/// E0831: `init U = file(name)` names a file that does not exist.
Diagnostic no_configuration(Span span, const std::string& name);

// A flow of links, E0778.
/// `why`: the term that is not allowed.
Diagnostic flow_not_of_loops(Span span, const std::string& why);
/// The exponent of links of a definition in an action; `why`: the part that is not allowed.
Diagnostic links_not_carried(Span span, const std::string& why);
/// Links `V[mu] = project(M)` in an action or in the operator of its determinant.
Diagnostic projection_not_carried(Span span, const std::string& links, const std::string& why);
/// Gradients are transported along links in an equation without a direction.
Diagnostic flow_without_direction(Span span);
/// The equation of U[mu] contains the gradient by U[nu].
Diagnostic flow_of_another_direction(Span span);
Diagnostic flow_of_second_order(Span span, const std::string& links);
/// `d(S, U)` occurs outside of the equation of U.
Diagnostic gradient_not_here(Span span, const std::string& links);

/// E0301: `fastest` decays as exp(-fastest*t), `limit` is that of the integrator for rate*dt.
Diagnostic flow_unstable(Span span, double dt, double most, double fastest, double limit);

}  // namespace vphi::physics::errors
