// Messages about waves of conservation laws that grow, and densities that determine no state.
#pragma once

#include <complex>
#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// The densities have one value in several states (E0794). `place`: where their determinant is 0,
/// on the way from rest to the state `further`; `signal`: the speed of signals at rest.
Diagnostic state_not_determined(Span law, const std::string& name, const std::string& place,
                                const std::string& further, double signal);
/// A pair of velocities that is not real (E0848). `carrier`: what relaxes and makes them so; empty
/// where they are so without it.
Diagnostic waves_grow(Span law, const std::string& carrier, std::complex<double> velocity,
                      const std::string& axis, const std::string& state, bool at_start);
/// What relaxes makes signals slower (W0849).
Diagnostic target_drives(Span law, const std::string& name, double with, double without,
                         const std::string& state);
/// Terms with derivatives that make the shortest waves grow (E0848).
Diagnostic diffusion_grows(Span law, const std::string& laws, const std::string& state);

}  // namespace vphi::physics::errors
