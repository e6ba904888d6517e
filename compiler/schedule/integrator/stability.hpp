// The step against the fastest waves of the start: is dt below what the integrator's text bears?
//
// One step of the text on x'' = -w^2 x is a linear map of (x, v), stable while no eigenvalue is
// larger than 1; on x' = -rate x it is a number. The text is run by the interpreter that makes
// steps (compiler/schedule/integrator/small_step.hpp), with the model's dt and options, so a user's
// own integrator has its limit as well, whatever functions its lines call. Nothing is known of
// heads that ask for more than these equations offer (noise, friction, rotations): those are judged
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

/// The order of the text's error in turning an oscillator, measured at w*dt = 1 and 1/2; nothing
/// where unknown.
std::optional<double> wave_order(const text::Integrator& integrator, double dt,
                                 const physics::Options& options = {});

/// The system with what its step leaves of the Friedmann equation, and what is worth saying of dt;
/// nothing where dt is above the limit (E0301).
std::optional<physics::System> judge_waves(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
