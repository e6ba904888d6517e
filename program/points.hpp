// What encloses the density of points (program/point_density.hpp), for draws from it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "program/point_density.hpp"

namespace vphi::program {

/// A function that is nowhere below a density: constant in each of some boxes that together cover
/// the ball of its reach. A point drawn from it and kept with the chance density/bound is one of
/// the density.
class Envelope {
 public:
  /// For these values of `density.axes`. Precondition: a sound density by its formula, which must
  /// outlive this.
  Envelope(const PointDensity& density, std::span<const double> parameters);

  /// The integral, not below that of the density; 0 where the density is 0; infinite where no bound
  /// was found.
  double integral() const { return within_.empty() ? 0 : within_.back(); }
  /// A place in the box without a bound.
  std::array<double, 3> unbounded() const { return unbounded_; }

  struct Draw {
    std::array<double, 3> at{};
    double bound = 0;  ///< of the density there
  };
  /// The box is chosen by the first of four numbers in (0, 1), the place in it by the others.
  Draw operator()(const std::array<double, 4>& uniform) const;
  /// The density at a place; 0 beyond its reach.
  double density(const std::array<double, 3>& at) const;

 private:
  struct Box {
    std::array<double, 3> low{}, high{};
    double least = 0, most = 0;  ///< bounds of the density
  };
  Box bounded(Box box) const;
  double volume(const Box& box) const;
  void divide();

  const PointDensity& density_;
  std::size_t components_;
  std::vector<double> parameters_;
  std::vector<Box> boxes_;
  std::vector<double> within_;  ///< integrals up to each box and with it
  std::array<double, 3> unbounded_{};
};

}  // namespace vphi::program
