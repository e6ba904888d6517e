// Starts of momenta that a written Lagrangian makes (fields/canonical_form.hpp) from velocities.
#pragma once

#include <vector>

#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// The numbers of `momentum` where its field has these velocities. E0901 where another field's
/// velocity counts as well.
std::vector<Expr> momentum_of_velocity(const Equations& d, const StateField& momentum,
                                       const std::vector<Expr>& velocity, dsl::Span span);
/// The momenta of all fields beside links where nothing moves.
void momenta_at_rest(const Equations& d, StartValues& start);
/// Fails where `value` draws a vacuum as the velocity of the field of `momentum`, which is drawn as
/// its momentum, and the two differ.
void check_vacuum_of_velocity(const Equations& d, const StateField& momentum,
                              const dsl::ExprPtr& value);

}  // namespace vphi::physics
