// Messages about the physics of a model, one function each.
//
// E03xx numerics and stability, E06xx units, E07xx equations, E0901 what this version cannot run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/algebra/fourier.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

// ---- not supported
Diagnostic not_yet(Span span, const std::string& what);

// ---- numerics
/// A number of two digits that is not above `limit`, as text: what may be written where a value
/// must stay below a positive limit.
std::string below(double limit);
/// `dt`, `limit`: in units of dx.
Diagnostic unstable_step(Span span, double dt, double limit, const std::string& integrator,
                         const std::string& reason);
Diagnostic step_not_positive(Span span, double value);
/// E0326: `tol` where `why`.
Diagnostic no_tolerance(Span span, const std::string& why, const std::string& fix);
Diagnostic lattice_shape(Span span, const std::string& what);
/// `parity = even_odd` and an odd number of sites along an axis.
Diagnostic odd_extent(Span span, const std::string& axis, std::int64_t extent, Span shape);
/// `count`: the parameter that counts the particles, if there is one.
Diagnostic too_many_sites(Span span);
Diagnostic no_lattice_to_shape(Span span, const std::string& count);
Diagnostic spacing_not_positive(Span span);
/// The bound of an expectation is below the rounding error `least`.
Diagnostic unresolved_promise(Span span, double bound, double least, bool single);

/// `store = deviation` of a field that has no reference.
Diagnostic no_deviation(Span span, const std::string& why);

// ---- units
Diagnostic planck_mass_open(Span span);  ///< a warning
Diagnostic unknown_unit(Span span, const std::string& name);

// ---- equations
Diagnostic no_equation(Span span, const std::string& name);
Diagnostic two_equations(Span span, const std::string& name, Span first);
Diagnostic equation_without_variable(Span span, const std::string& name);
Diagnostic derived_without_source(Span span);
Diagnostic canonical_order(Span span, const std::string& name);
Diagnostic pair_not_symmetric(Span span);
/// `method = separable(tolerance)` at `method`, and a pair function at `pair` without such a form.
Diagnostic no_series(Span method, Span pair, const std::string& function,
                     const algebra::NoSeries& reason, int most);
Diagnostic matrix_shape(Span span, const std::string& file, const std::string& found,
                        std::int64_t needed);
Diagnostic not_real(Span span, const std::string& what);
Diagnostic wrong_shape(Span span, const std::string& what);
/// `mu == 2*x` of a direction mu, or `mu == x` where mu is a coordinate.
Diagnostic direction_compared(Span span);
Diagnostic not_fixed(Span span, const std::string& what);
/// `what` must be one number and depends on a swept name, or on a free parameter.
Diagnostic swept_here(Span span, const std::string& what, const std::string& axis, Span declared,
                      bool free);
Diagnostic not_positive(Span span, const std::string& what, double value);
/// Of a distribution: `what` is its width, mean or radius.
Diagnostic negative_width(Span span, const std::string& what, double value);
/// Of uniform(low, high).
Diagnostic bounds_reversed(Span span);
Diagnostic not_a_number(Span span, const std::string& what);
Diagnostic unknown_name(Span span, const std::string& name);
/// `max`, `min`, ... over pairs of bodies, or over bodies for each value of another one.
Diagnostic extreme_of_pairs(Span span, const std::string& what);
/// A predefined name that this form of its clause does not define.
Diagnostic not_given(Span span, const std::string& name, const std::string& doc);
Diagnostic cycle(Span span, const std::string& name);
Diagnostic not_differentiable_by(Span span, const std::string& what);
/// `'` of the links of a flow, at a site.
Diagnostic no_rate_of_links(Span span);
Diagnostic no_derivative_in_time(Span span, const std::string& what);
Diagnostic no_range(Span span, const std::string& index);
Diagnostic index_out_of_range(Span span, int index, int size);
Diagnostic second_lattice(Span span, Span first);
Diagnostic no_lattice(Span span, const std::string& name);
Diagnostic no_evolve(Span span);
Diagnostic unknown_integrator(Span span, const std::string& name,
                              const std::vector<std::string>& known);
Diagnostic hamiltonian_not_total(Span span);
Diagnostic hamiltonian_odd(Span span, const std::string& name);
Diagnostic two_sources(Span span, const std::string& name, Span first);
Diagnostic rescale_term(Span span, const std::string& why);
Diagnostic rescale_option(Span span, const std::string& name);
Diagnostic rescale_canonical(Span span);
Diagnostic rescale_friction(Span span, double r, double s);
Diagnostic path_open(Span span);
Diagnostic not_gauge_invariant(Span span, double violation);
Diagnostic metric_form(Span span);
Diagnostic no_expansion(Span span, double density);
Diagnostic not_scalar_output(Span span, const std::string& text);
Diagnostic not_site_output(Span span, const std::string& text);
Diagnostic option_value(Span span, const std::string& option, const std::string& expected);
Diagnostic no_source_derivative(Span span, const std::string& field);
/// `kind`: TableError::Kind.
Diagnostic table_file(Span span, const std::string& problem, int kind);
Diagnostic force_jumps(Span span);

}  // namespace vphi::physics::errors
