// A density from which the host draws points for bodies; it need not be normalised.
#pragma once

#include <vector>

#include "program/formula.hpp"

namespace vphi::program {

/// Lengths are those of the density, before a RandomField's amplitude.
struct PointDensity {
  int components = 0;        ///< of a place: 1 to 3
  double reach = 0;          ///< no point lies farther from the origin
  double apart = 0;          ///< least distance of two points of a species
  bool centred = false;      ///< the mean of each species is moved to the origin
  bool turned = false;       ///< each species is turned about the origin, any rotation as likely
  std::vector<int> species;  ///< numbers of bodies, one species behind the other
  /// Of a density of the distance alone: its values at equal distances from 0 to `reach`.
  std::vector<double> profile;
  /// Otherwise the density, of the components of a place and of the values of `axes`, places in
  /// Program::axes.
  Formula formula;
  std::vector<int> axes;

  bool operator==(const PointDensity&) const = default;
};

/// Lengths, a density that has a value everywhere, and species of no fewer points than none.
bool is_sound(const PointDensity& density);

}  // namespace vphi::program
