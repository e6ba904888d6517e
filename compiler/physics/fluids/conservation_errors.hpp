// Messages about conservation laws, their recovery and the texts of schemes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// A line of a scheme mixes values of quantities with values of primitive variables.
dsl::Diagnostic scheme_kinds(dsl::Span span);
/// `from` and `to` are missing for bisection, or are in the wrong order.
dsl::Diagnostic solve_range(dsl::Span span, const std::string& name);
/// Newton's iteration does not converge to the solution for `state`, the text of a random state.
dsl::Diagnostic iterations_diverge(dsl::Span span, const std::string& name, std::int64_t most,
                                   double error_left, const std::string& state);
/// For `state` the interval contains no solution.
dsl::Diagnostic no_sign_change(dsl::Span span, const std::string& name, double low, double high,
                               const std::string& state);
/// A warning: `most` iterations leave an error of `reached`.
dsl::Diagnostic solve_stops_short(dsl::Span span, const std::string& name, std::int64_t most,
                                  double reached);
/// A warning: the field is stored in f64, the arithmetic is in f32.
dsl::Diagnostic stored_finer(dsl::Span span, const std::string& name);

/// dt/dx is `ratio`, above `limit`; the largest signal velocity is `speed`, and the scheme has been
/// told that it is `told` at most.
Diagnostic step_beyond_signals(Span span, double ratio, double limit, double speed, double told);
/// A warning: signals of the start are faster than what the scheme takes for their bound.
Diagnostic speed_below_signals(Span span, double signal, double told);
Diagnostic no_laws(Span span);
Diagnostic no_recovery(Span span);
Diagnostic not_recovered(Span span, const std::string& name);
Diagnostic two_facts(Span span, const std::string& name);
Diagnostic recovery_circle(Span span, const std::string& name);
Diagnostic solve_bounds(Span span);
Diagnostic solve_without_fact(Span span, const std::string& name);
Diagnostic no_contraction(Span span, const std::string& name, double factor,
                          const std::string& state);
Diagnostic no_vector_found(Span span, const std::string& name, int rounds,
                           const std::string& state);
Diagnostic no_joint_solution(Span span, const std::string& names, int rounds,
                             const std::string& state);
Diagnostic bisected_together(Span span, const std::string& name, const std::string& other);
Diagnostic solved_twice(Span span, Span first, const std::string& name);
Diagnostic vector_by(Span span, const std::string& name);
/// A warning: `max` iterations leave an error of `reached`.
Diagnostic solve_stops_early(Span span, const std::string& name, double factor, double wanted,
                             std::int64_t most, double reached);
Diagnostic no_finite_state(Span span);
Diagnostic no_inverse(Span span, const std::string& name, const std::string& state, double expected,
                      double found);
/// `relax`, and derivatives in time of primitive variables in sources (E0834).
Diagnostic recovers_from_all_sites(Span span);
Diagnostic start_is_open(Span span, const std::string& name);
Diagnostic start_of_other_sites(Span span, const std::string& name);
Diagnostic bound_of_fixed_point(Span span, const std::string& option);
Diagnostic relaxes_twice(Span span, const std::string& name);
Diagnostic recovers_what_relaxes(Span span, const std::string& name);
Diagnostic relaxes_in_step(Span scheme, Span law, const std::string& name);
/// Derivatives in fluxes (E0839).
Diagnostic derivative_in_step(Span scheme, Span law, const std::string& name);
Diagnostic flux_of_neighbours(Span law, const std::string& name);
/// Fields beside laws (E0835).
Diagnostic derivative_at_face(Span span, const std::string& field, Span declared);
Diagnostic field_beside_step(Span scheme, Span field, const std::string& name,
                             const std::string& scheme_name);
Diagnostic relaxes_in_turning_frame(Span span, Span metric, const std::string& name);
/// `time` may be NaN.
Diagnostic relaxation_not_positive(Span law, const std::string& name, double time,
                                   const std::string& state);
Diagnostic relaxation_not_resolved(Span dt, Span law, const std::string& name, double steps,
                                   double step);
/// Speeds are sums over the axes. `without`: the speed where the variable of `law` does not follow
/// its target.
Diagnostic signals_beyond_speed(Span law, const std::string& name, double signal, double without,
                                double speed, int axes, const std::string& state);
Diagnostic rate_of_neighbour(Span span, const std::string& name);
Diagnostic rates_not_linear(Span span, const std::string& name);
Diagnostic rates_not_determined(Span span, std::size_t unknowns, std::size_t equations);
Diagnostic limit_of_primitive(Span span, const std::string& name);
/// `part`: the change by a second application in parts of what the first one gives.
Diagnostic limit_acts_again(Span span, const std::string& name, double part);
/// `limit` of a variable that is recovered.
Diagnostic limit_of_recovered(Span span, const std::string& name);
Diagnostic no_scheme(Span span);
Diagnostic scheme_head(Span span);
Diagnostic scheme_line(Span span);
Diagnostic scheme_no_end(Span span, const std::string& state);
Diagnostic scheme_shift(Span span, const std::string& axis);
Diagnostic scheme_name(Span span, const std::string& name, const std::vector<std::string>& known);
Diagnostic scheme_state(Span span, const std::string& name);
Diagnostic scheme_option_missing(Span span, const std::string& scheme, const std::string& option);
Diagnostic scheme_form(Span span, const std::string& scheme, bool step);
Diagnostic no_common_velocity(Span span, Span scheme, const std::string& name, Span other);
Diagnostic nothing_carried(Span span, const std::string& scheme);
Diagnostic flux_left_over(Span span, Span scheme, const std::string& name);
/// E0836: `beyond` an axis that the lattice does not have.
Diagnostic beyond_no_axis(Span span, const std::string& axis, int dims);
/// E0836: the axis is periodic; its boundaries are declared at `lattice`.
Diagnostic beyond_no_end(Span span, const std::string& axis, Span lattice);
/// E0836: a variable has two values beyond the same end.
Diagnostic beyond_twice(Span span, const std::string& name, const std::string& axis, bool high);
/// E0836: the text holds a derivative, a neighbour or an average.
Diagnostic beyond_reads_others(Span span, const std::string& name);

}  // namespace vphi::physics::errors
