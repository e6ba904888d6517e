// Runs an integrator's text on stochastic equations with a known solution.
//
// Multiplicative noise: on dx = x dW one step of length h multiplies x by a random number whose
// mean is 1 in the Ito calculus and 1 + h/2 in the Stratonovich calculus; the limit of (mean - 1)/h
// for small h shows to which one the text converges.
//
// Additive noise: on x'' = -w^2 x - gamma x' + sigma noise (or x' = -theta x + sigma noise) a step
// is a linear map plus Gaussian noise, so its stationary covariance is the solution of a linear
// equation, to be compared with <v^2> = sigma^2/(2 gamma), <x^2> = <v^2>/w^2 (or sigma^2/(2
// theta)). On a lattice this is done for the mean and for the wave with the steepest force,
// neighbours included. Nothing is sampled. There is no result for texts that cannot be run on these
// equations.
#pragma once

#include <optional>
#include <string>

#include "compiler/model/system.hpp"
#include "compiler/schedule/integrator/match.hpp"

namespace vphi::schedule {

/// `options`: options that the model sets.
std::optional<physics::Calculus> measured_calculus(const Integrator& integrator, const Head& head,
                                                   const physics::Options& options = {});

struct Bias {
  /// Relative error of the stationary variance; infinite where the step has none.
  double relative = 0;
  std::string what;   ///< "<x'^2>"
  bool wave = false;  ///< for a wave of the lattice, not for the mean
  std::string where;  ///< "near x = 0.25, where the force has the slope -39.5"
};

/// The largest bias of a variable with friction and additive noise, linearised where its force is
/// steepest among the initial values and the waves of the lattice. Nothing where no variable is of
/// this kind.
std::optional<Bias> largest_bias(const physics::System& system, const Integrator& integrator,
                                 const Head& head, const physics::Options& options = {});

}  // namespace vphi::schedule
