// Points of a density as initial values of bodies: `init X ~ density(f, reach = R)`.
//
// f is not normalised, and no point lies beyond R. It is a formula of the place of the point: of
// its distance `r` from the origin, of `x`, `y`, `z` where the model has no such names, or of the
// name of what is drawn (X[0], norm(X)); and of swept values. With `apart = d` a point that is
// closer than d to an earlier one of its species is drawn again. With `turned = on` each species is
// turned about the origin at random, with `centred = on` its mean is then moved there. The draws
// are made by the host (runtime/run/starts/points.hpp).
#pragma once

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The draw of the call `e` for the places `field`, from a density that is put to the collected
/// ones; `entry` is still to be set. Physical units. E0876 where f is no density, E0877 where the
/// points cannot keep their distance.
RandomField point_draw(const Program& d, Lowerer& lower, const dsl::Expr& e, const Reading& reading,
                       const StateField& field);

}  // namespace vphi::physics
