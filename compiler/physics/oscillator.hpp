// Stability of an integrator, measured: its text is run on x'' = -w^2 x, or on x' = -rate x.
//
// One step is a linear map of (x, v); it is stable while no eigenvalue is larger than 1. The body
// is interpreted as written, on numbers, so a user's own integrator has its limit as well. Nothing
// is known of integrators whose head asks for more than this equation offers (noise, rotations).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "dsl/ast.hpp"

namespace vphi::physics {

using StepMatrix = std::array<double, 4>;  ///< row by row

/// The map of one step with w*dt = theta; nothing where the text cannot be run on it.
std::optional<StepMatrix> oscillator_step(
    const dsl::Clause& integrator, const std::map<std::string, const dsl::Clause*>& integrators,
    double theta);

/// Largest w*dt below which every step is stable; nothing where unknown or where there is none
/// (Heun's method grows at every step).
std::optional<double> stability_limit(const dsl::Clause& integrator,
                                      const std::map<std::string, const dsl::Clause*>& integrators);

/// Largest rate*dt below which steps of x' = -rate*x do not grow; nothing where unknown.
std::optional<double> decay_limit(const dsl::Clause& integrator,
                                  const std::map<std::string, const dsl::Clause*>& integrators);

}  // namespace vphi::physics
