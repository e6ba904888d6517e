// Checks dt against the integrator's stability limit for the fastest waves of the initial state.
//
// One step of the text on x'' = -w^2 x is a linear map of (x, v), stable while no eigenvalue is
// larger than 1; on x' = -rate x it is a number. The text is run by the interpreter that makes
// steps (compiler/schedule/integrator/small_step.hpp), with the model's dt and options, so the
// limit of an integrator that the model defines is found as well. Heads with noise, friction or
// rotations cannot be run on these equations and have no limit here; they are checked on the
// linearised equations of the system (compiler/schedule/integrator/growth.hpp).
#pragma once

#include <optional>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// Largest w*dt below which every step is stable; nothing where unknown or where there is none
/// (Heun's method grows at every step).
std::optional<double> wave_limit(const text::Integrator& integrator, double dt,
                                 const physics::Options& options = {});

/// Largest rate*dt below which steps of x' = -rate*x do not grow; nothing where unknown.
std::optional<double> decay_limit(const text::Integrator& integrator, double dt,
                                  const physics::Options& options = {});

/// The same of an integrator of equations with noise, which is 0 here, so that heads with noise
/// have a limit as well.
std::optional<double> quiet_decay_limit(const text::Integrator& integrator, double dt,
                                        const physics::Options& options = {});

/// The order of the error of the text's frequency on x'' = -w^2 x, measured at w*dt = 1 and 1/2;
/// nothing where unknown.
std::optional<double> wave_order(const text::Integrator& integrator, double dt,
                                 const physics::Options& options = {});

/// The system with the bound of its error in the Friedmann equation, and with remarks on dt;
/// nothing where dt is above the limit (E0301).
std::optional<physics::System> judge_waves(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
