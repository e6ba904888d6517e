// Densities of actions with their gradients written out, as the kernels of a trajectory need them.
#pragma once

#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// The density with |grad u|^2 written out and the spacing put in.
Expr written_out(const Space& d, Expr density);

/// An energy density written out. c*|grad u|^2 with one c for all sites becomes -c*u*lap(u), which
/// has the same sum in a box without walls.
Expr energy_written_out(const Space& d, Expr density);

}  // namespace vphi::physics
