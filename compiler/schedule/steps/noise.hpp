// Noise between equations and steps: which random numbers an integrator's text draws.
//
// `g(x)*noise` in a head takes the noise of each variable of the group. Several streams of one
// variable that drive nothing else are one stream of the summed variance. In one dimension this is
// exact in distribution in either calculus: g_1 g_1' + g_2 g_2' = g g' for g^2 = g_1^2 + g_2^2.
//
// Which calculus an integrator converges to, and the bias of its stationary state at a given
// step, are not declared anywhere: `trial_step` runs the text on dx = x dW and on damped linear
// equations and measures it (docs/formulas.md 5.1 and 5.4).
#pragma once

#include <map>
#include <optional>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// d(array)/d(eta) = rest + factor*noise(stream); factor is the number 0 without noise. Noise that
/// is read at neighbours has the factor 1: `spread` is the whole of it, of streams at any offset.
struct NoisyRate {
  algebra::Expr rest, factor;
  int stream = -1;
  algebra::Expr spread = {};
};
/// Streams that drive one array only are joined. What cannot be joined has `stream` < -1.
NoisyRate noisy_rate(const physics::System& system, int array);

/// Drift of the integrator's calculus for a declared other one, and warnings: a step at which the
/// scheme is biased, noise of a class that it does not converge for. The system with the rates that
/// the integrator then takes; nothing where an error was added.
std::optional<physics::System> with_calculus(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
