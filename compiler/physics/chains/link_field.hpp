// Links of a gauge field as matrices of loads.
#pragma once

#include "compiler/gauge/link_paths.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The matrix of each link of the field, made of what is stored; asked once for each. Holds
/// references to both arguments.
gauge::LinkOf links_of(Arena& arena, const StateField& field);

}  // namespace vphi::physics
