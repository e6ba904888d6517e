// Points of an isotropic density as initial values of bodies: `init x ~ density(f, reach = R)`.
//
// f is a formula of the distance `r` from the origin, not normalised; no point lies beyond R. With
// `apart = d` a point that is closer than d to an earlier one of its species is drawn again, place
// and all. With `centred = on` the mean of each species is moved to the origin afterwards. The
// draws are made by the host (runtime/run/starts/points.hpp).
#pragma once

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The draw of the call `e`, of vectors with so many components; `entry` is still to be set.
/// Physical units. E0876 where f is no density, E0877 where the points cannot keep their distance.
RandomField point_draw(const Program& d, Lowerer& lower, const dsl::Expr& e, const Reading& reading,
                       int components);

}  // namespace vphi::physics
