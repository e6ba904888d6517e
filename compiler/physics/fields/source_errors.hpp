// Messages about potentials, actions and Hamiltonians from which forces are derived, and about
// angles in them; one function each.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// A potential or an action (`source`) contains the time derivative of `field`.
Diagnostic velocity_in_source(Span span, const std::string& source, const std::string& field);
/// The action of a Markov chain contains a time derivative, but a chain has no time; `action` may
/// be empty.
Diagnostic velocity_in_action(Span span, const std::string& action);
/// E0875: the curvature of a Lagrangian stands otherwise than in terms f(u)*R.
Diagnostic curvature_not_linear(Span span);
/// `min` or `max` over all sites in an expression from which a force is derived.
Diagnostic extremum_in_source(Span span);
/// E0711: in a function, a derivative by its parameter `name` of what has other arguments that vary
/// with the argument of `name`, or of what cannot vary with it.
Diagnostic derivative_by_parameter(Span span, const std::string& name);
/// E0711: a derivative by the definition `name` of what is made of the same variables without it.
Diagnostic derivative_by_definition(Span span, const std::string& name);
/// `name` is an energy that contains the potential which is being defined.
Diagnostic source_of_itself(Span span, const std::string& name, const std::string& source);
/// E0872: a Lagrangian beside a potential or a Hamiltonian.
Diagnostic lagrangian_beside(Span span, bool hamiltonian, Span other);
/// E0873: the matrix of second derivatives by the velocities is singular at this field.
Diagnostic no_acceleration(Span span, const std::string& field);
/// E0874: the time derivative of the field at another site, in a derivative or in a sum.
Diagnostic velocity_elsewhere(Span span, const std::string& field);
/// E0878: a Lagrangian that holds `momentum`, which it makes, of `field`.
Diagnostic momentum_in_lagrangian(Span span, const std::string& momentum, const std::string& field);
/// The equation of `variable` is not periodic in the angle `angle`.
Diagnostic angle_cut(Span span, const std::string& variable, const std::string& angle,
                     const std::string& period, Span declared);

}  // namespace vphi::physics::errors
