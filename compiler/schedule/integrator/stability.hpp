// The step against the fastest waves of the start: is dt below the integrator's stability limit?
//
// One step of the text on x'' = -w^2 x is a linear map of (x, v), stable while no eigenvalue is
// larger than 1; on x' = -rate x it is a number. The text is run by the interpreter that makes
// steps (compiler/schedule/integrator/small_step.hpp), with the model's dt and options, so a user's
// own integrator has its limit as well, whatever functions its lines call. There is no limit for
// heads that need more than these equations have (noise, friction, rotations): those are checked
// by their linear equations as a whole (compiler/schedule/integrator/growth.hpp).
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

/// The order of the error of the text's frequency on x'' = -w^2 x, measured at w*dt = 1 and 1/2;
/// nothing where unknown.
std::optional<double> wave_order(const text::Integrator& integrator, double dt,
                                 const physics::Options& options = {});

/// The system with the bound of its error in the Friedmann equation, and with remarks on dt;
/// nothing where dt is above the limit (E0301).
std::optional<physics::System> judge_waves(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
