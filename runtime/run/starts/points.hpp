// Points of a density, at least a distance apart (program/points.hpp), made on the host in f64.
//
// Point k of an instance is a function of the instance's seed, the stream and k, and of the points
// of its species before it: a point that is closer than `apart` to one of these is drawn again with
// its next random numbers. So the points of an instance are the same on every device, alone and
// among others. A density of the distance alone is linear between its values times the area of the
// shell, and the radius is found from its integral. Points of another one are those of its
// envelope, each kept with the chance density/bound; those that are not are drawn again too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "program/points.hpp"

namespace vphi::runtime {

/// A density and its integral, read once for all draws from it.
struct ReadDensity {
  program::PointDensity density;
  std::vector<double> weights;  ///< of the distance alone: density times the area of the shell
  std::vector<double> within;   ///< their integral from 0 on
};

/// Draws from one density, one instance after the other; keeps its integral or its envelope.
class PointDraw {
 public:
  /// Precondition: program::is_points(field), of a sound program.
  explicit PointDraw(const program::RandomField& field);

  /// Places in Program::axes whose values the density reads.
  const std::vector<int>& axes() const { return read_->density.axes; }

  /// Component `entry` of all bodies, times the field's amplitude, where the axes have the values
  /// `parameters`. E0876 where the density is below 0, not a number or without a bound, E0877 where
  /// a point finds no room in 100000 draws.
  void operator()(std::uint64_t seed, const std::vector<double>& parameters, std::span<double> out);

 private:
  using Place = std::array<double, 3>;
  /// The next point; `attempt` counts draws.
  Place drawn(std::uint64_t seed, std::int64_t body, std::uint32_t& attempt) const;
  std::optional<Place> tried(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const;
  Place by_distance(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const;
  double radius(double share) const;
  void enclose(const std::vector<double>& parameters);
  std::vector<Place> species(std::uint64_t seed, std::int64_t first, int count) const;
  void turn(std::uint64_t seed, std::uint64_t species, std::vector<Place>& points) const;
  std::array<double, 2> uniform(std::uint64_t seed, std::uint64_t index, std::uint32_t place) const;

  int components_, entry_;
  std::uint32_t stream_;
  double amplitude_;
  std::shared_ptr<const ReadDensity> read_;
  std::optional<program::Envelope> envelope_;
  std::vector<double> enclosed_;  ///< the parameters of the envelope
};

}  // namespace vphi::runtime
