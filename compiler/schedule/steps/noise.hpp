// Noise in a step: the random numbers that an integrator's text draws.
//
// `g(x)*noise` in a head stands for the noise of each variable of the group. Several streams that
// drive only one and the same variable are replaced by one stream of the summed variance. In one
// dimension this is exact in distribution in either calculus: g_1 g_1' + g_2 g_2' = g g' for g^2 =
// g_1^2 + g_2^2.
//
// Which calculus an integrator converges to, and the bias of its stationary state at a given step,
// are not declared: they are measured by running the text on dx = x dW and on damped linear
// equations (integrator/trial.hpp; docs/formulas.md 5.1 and 5.4).
#pragma once

#include <map>
#include <optional>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// d(array)/d(eta) = rest + factor*noise(stream); factor is the number 0 without noise. For noise
/// that is read at neighbours the factor is 1, and `spread` is the whole noise term, with streams
/// at any offset.
struct NoisyRate {
  algebra::Expr rest, factor;
  int stream = -1;
  algebra::Expr spread = {};
};
/// The rate of an array. Streams that drive this array only are joined; `stream` is below -1 where
/// that is not possible.
NoisyRate noisy_rate(const physics::System& system, int array);

/// The system with the drift term that converts the declared calculus to that of the integrator.
/// Warns of a biased stationary state, and of a class of noise for which the scheme does not
/// converge. Nothing where an error was reported.
std::optional<physics::System> with_calculus(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
