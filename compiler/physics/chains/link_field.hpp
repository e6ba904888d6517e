// Links of a gauge field as matrices of Loads.
#pragma once

#include "compiler/gauge/link_paths.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A function that gives the matrix of each link of the field from its stored numbers; each is made
/// once. It keeps references to both arguments.
gauge::LinkOf links_of(Arena& arena, const StateField& field);

}  // namespace vphi::physics
