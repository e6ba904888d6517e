// Messages about `metric scale(h1, h2, h3)` (E0700).
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// E0700: `momentum` of `metric` names no law of a vector.
Diagnostic momentum_is_no_law(Span metric, const std::string& name);

/// E0700: the lists of `energy` and `momentum` differ in length.
Diagnostic energies_and_momenta(Span span, std::size_t energies, std::size_t momenta);

/// E0700: a law that two fluids of `metric` name.
Diagnostic fluid_named_twice(Span span, const std::string& name);

Diagnostic scale_for_each_axis(Span span, std::size_t given, int axes);
/// A scale factor that reads fields, averages or random numbers.
Diagnostic scale_of_state(Span span);
/// A scale factor that depends on the position along a periodic axis.
Diagnostic scale_across_the_box(Span span, int axis);
/// A scale factor that is 0 or below, or no number, at the time of the start.
Diagnostic scale_zero_at_start(Span span, double value, double time);
Diagnostic scale_not_positive(Span span, double value, int axis, double position);
/// Scale factors change with t, and no law is named as that of the energy.
Diagnostic energy_not_named(Span metric, const std::string& momentum, bool closes);
/// `energy = NAME` where NAME is not a law of one number.
Diagnostic energy_is_no_law(Span metric, const std::string& name);
/// `energy = NAME` without a law of a vector with a component for each axis, or with several.
Diagnostic energy_without_momentum(Span metric, const std::string& name, int momenta);
/// The stress across the lattice is needed, and the law of the momentum has no `grad`.
Diagnostic stress_not_known(Span law, Span metric, const std::string& momentum);
/// A scheme that is a step, where scale factors depend on positions.
Diagnostic scale_in_step(Span scheme, Span metric, const std::string& name);
/// A scheme that is not written as differences between faces.
Diagnostic scheme_without_faces(Span scheme, Span metric, const std::string& name);

}  // namespace vphi::physics::errors
