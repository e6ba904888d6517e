// Points that the host draws for bodies, from a density that need not be normalised.
//
// A RandomField of points is of the kind Uniform, between -reach and reach, and has the text of a
// PointDensity as its `file`. There is one for each component: `entry` of `components`.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/formula.hpp"
#include "program/program.hpp"

namespace vphi::program {

/// Lengths are those of the density, before the field's amplitude.
struct PointDensity {
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
};

inline bool is_points(const RandomField& field) {
  return field.kind == RandomField::Kind::Uniform && !field.file.empty();
}

std::string to_text(const PointDensity& density);
/// Throws ProgramError (program/json.hpp) where the text is none of a sound density of so many
/// components.
PointDensity point_density(std::string_view text, int components);

/// A function that is nowhere below a density: constant in each of some boxes that together cover
/// the ball of its reach. A point drawn from it and kept with the chance density/bound is one of
/// the density.
class Envelope {
 public:
  /// For these values of `density.axes`. Precondition: a sound formula of so many components.
  Envelope(const PointDensity& density, int components, std::span<const double> parameters);

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
