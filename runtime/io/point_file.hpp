// Points of a file as a field: each point adds its weight, spread as a Gaussian.
//
// A set has a row for each point, its position along each axis of the lattice (from the centre of
// the box) and its weight; axes in front of these form a stack. The value of a site is the mean
// over its cell, so that the sum over a box without ends of value times volume is the sum of the
// weights. What lies outside of the box is left out.
//
// Throws StartError where the file is missing or of another shape, or a weight is negative.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vphi::io {

/// Which points: the lattice's axes, the extents of a stack, and the width of the Gaussians.
struct PointPlace {
  int dims = 1;
  std::vector<std::int64_t> leading;
  double width = 1;
};

/// The fields on a lattice of `extent` sites with spacing dx, x fastest, of some members of a
/// stack.
std::vector<std::vector<double>> spread_points(const std::string& file, const PointPlace& place,
                                               const std::vector<std::int64_t>& members,
                                               const std::array<std::int64_t, 4>& extent,
                                               double dx);

/// The same of points that are there: columns of positions, and of weights.
std::vector<double> spread_field(std::span<const std::vector<double>> positions,
                                 const std::vector<double>& weights,
                                 const std::array<std::int64_t, 4>& extent, double dx,
                                 double width);

}  // namespace vphi::io
