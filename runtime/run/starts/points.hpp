// Points of an isotropic density, at least a distance apart (program/points.hpp), made on the host
// in f64.
//
// Point k of an instance is a function of the instance's seed, the stream and k, and of the points
// of its species before it: a point that is closer than `cutoff` to one of these is drawn again
// with its next random numbers, radius and direction. So the points of an instance are the same on
// every device, alone and among others. The density is linear between its values times the area of
// the shell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

/// Draws from one density; keeps its integral.
class PointDraw {
 public:
  /// Precondition: program::is_points(field). `field` must outlive this.
  explicit PointDraw(const program::RandomField& field);

  /// Component `entry` of all bodies, times the field's amplitude. E0877 where a point finds no
  /// room in 100000 draws.
  void operator()(std::uint64_t seed, std::span<double> out) const;

 private:
  struct Point {
    double at[3] = {0, 0, 0};
  };
  Point drawn(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const;
  double radius(double share) const;

  const program::RandomField& field_;
  std::vector<double> weights_;  ///< density times the area of the shell
  std::vector<double> within_;   ///< their integral from 0 on
};

}  // namespace vphi::runtime
