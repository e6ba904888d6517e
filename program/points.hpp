// Points that the host draws for bodies: how a RandomField describes them, one array a component.
//
// Such a field is of the kind Uniform and lists in `powers` a density at equal distances from the
// origin, from 0 to `high`. `components` is the number of components, `entry` which of them the
// array is, `leading` the number of bodies of each species, one behind the other, `cutoff` the
// least distance of two points of a species, and `as_it_is` whether their mean stays where it is
// drawn.
#pragma once

#include "program/program.hpp"

namespace vphi::program {

inline bool is_points(const RandomField& field) {
  return field.kind == RandomField::Kind::Uniform && !field.powers.empty();
}

}  // namespace vphi::program
