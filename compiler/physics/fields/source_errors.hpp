// Messages about what forces are derived from: potentials, actions, Hamiltonians, and angles in
// them; one function each.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// A potential or an action (`source`) holds the time derivative of `field`.
Diagnostic velocity_in_source(Span span, const std::string& source, const std::string& field);
/// The same of a Markov chain's action, which has no time; `action` may be empty.
Diagnostic velocity_in_action(Span span, const std::string& action);
/// `min` or `max` over all sites, where a force is derived.
Diagnostic extremum_in_source(Span span);
/// `name` stands for an energy that holds the potential which is being read.
Diagnostic source_of_itself(Span span, const std::string& name);
/// The equation of `variable` changes where the angle `angle` grows by one period.
Diagnostic angle_cut(Span span, const std::string& variable, const std::string& angle,
                     const std::string& period, Span declared);

}  // namespace vphi::physics::errors
