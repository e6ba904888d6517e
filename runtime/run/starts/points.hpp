// Points of a density, at least a distance apart (program/point_density.hpp), made on the host in
// f64.
//
// Point k of an instance is a function of the instance's seed, the stream and k, and of the points
// of its species before it: a point that is closer than `apart` to one of these is drawn again with
// its next random numbers. So the points of an instance are the same on every device, alone and
// among others. A density of the distance alone is linear between its values times the area of the
// shell, and the radius is found from its integral. Points of another one are those of its
// envelope, each kept with the chance density/bound; those that are not are drawn again too.
//
// The components of a point are arrays of their own (program::RandomField). Points are drawn for
// the first of them and kept until each has been taken.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/points.hpp"
#include "program/program.hpp"

namespace vphi::runtime {

using Place = std::array<double, 3>;

/// A density that was read once for all draws from it, and what these share. Draws of several
/// threads may ask it at once.
class SharedDensity {
 public:
  /// Precondition: a sound density.
  explicit SharedDensity(const program::PointDensity& density);

  const program::PointDensity& density() const { return density_; }
  /// Of a density of the distance alone: the radius within which this share of the points lies.
  double radius(double share) const;
  /// Of another one: what encloses it at these values of its axes. E0876 where there is no bound,
  /// or where it is 0 everywhere.
  std::shared_ptr<const program::Envelope> envelope(const std::vector<double>& parameters);

  /// What points depend on, beside the density.
  struct Key {
    std::uint64_t seed = 0;
    std::uint32_t stream = 0;
    std::vector<double> parameters;
    auto operator<=>(const Key&) const = default;
  };
  using Points = std::shared_ptr<const std::vector<Place>>;
  /// Points that are kept, for this component; nothing: they are still to be drawn.
  Points take(const Key& key, int entry);
  /// Keeps points for the components but `entry`. At most four million are kept at a time.
  void keep(const Key& key, int entry, const Points& points);

 private:
  struct Kept {
    Points points;
    unsigned taken = 0;  ///< bit i: component i has been
  };

  program::PointDensity density_;
  std::vector<double> weights_;  ///< of the distance alone: density times the area of the shell
  std::vector<double> within_;   ///< their integral from 0 on
  std::mutex mutex_;             ///< of what follows
  std::map<std::vector<double>, std::shared_ptr<const program::Envelope>> envelopes_;
  std::map<Key, Kept> kept_;
  std::size_t kept_points_ = 0;
};

/// Draws from one density, one instance after the other.
class PointDraw {
 public:
  /// Precondition: a field of points of a sound program.
  PointDraw(const program::Program& program, const program::RandomField& field);

  /// Places in Program::axes whose values the density reads.
  const std::vector<int>& axes() const { return shared_->density().axes; }

  /// Component `entry` of all bodies, times the field's amplitude, where the axes have the values
  /// `parameters`. E0876 where the density is below 0, not a number or without a bound, E0877 where
  /// a point finds no room in 100000 draws.
  void operator()(std::uint64_t seed, const std::vector<double>& parameters, std::span<double> out);

 private:
  std::vector<Place> points(std::uint64_t seed, const std::vector<double>& parameters);
  /// The next point; `attempt` counts draws.
  Place drawn(std::uint64_t seed, std::int64_t body, std::uint32_t& attempt) const;
  std::optional<Place> tried(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const;
  Place by_distance(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const;
  std::vector<Place> species(std::uint64_t seed, std::int64_t first, int count) const;
  void turn(std::uint64_t seed, std::uint64_t species, std::vector<Place>& points) const;
  std::array<double, 2> uniform(std::uint64_t seed, std::uint64_t index, std::uint32_t place) const;

  int components_, entry_;
  std::uint32_t stream_;
  double amplitude_;
  std::shared_ptr<SharedDensity> shared_;
  std::shared_ptr<const program::Envelope> envelope_;  ///< of the instance that is drawn
};

}  // namespace vphi::runtime
