#include "runtime/run/starts/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/random/philox.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

namespace {

constexpr std::uint32_t kMostDraws = 100000;

}  // namespace

PointDraw::PointDraw(const program::RandomField& field) : field_(field) {
  const double step = field.high / static_cast<double>(field.powers.size() - 1);
  double before = 0, sum = 0;
  for (std::size_t i = 0; i < field.powers.size(); ++i) {
    const double r = step * static_cast<double>(i);
    const double weight = field.powers[i] * std::pow(r, field.components - 1);
    if (i > 0) sum += (before + weight) / 2 * step;
    weights_.push_back(weight);
    within_.push_back(sum);
    before = weight;
  }
}

/// The radius within which this share of the points lies.
double PointDraw::radius(double share) const {
  const double step = field_.high / static_cast<double>(within_.size() - 1);
  const double wanted = share * within_.back();
  const auto above = std::upper_bound(within_.begin() + 1, within_.end() - 1, wanted);
  const auto i = static_cast<std::size_t>(above - within_.begin());
  const double a = weights_[i - 1], slope = (weights_[i] - a) / step;
  const double rest = wanted - within_[i - 1];
  // a t + slope t^2/2 = rest
  const double root = a + std::sqrt(std::max(0.0, a * a + 2 * slope * rest));
  const double t = root > 0 ? 2 * rest / root : 0;
  return step * static_cast<double>(i - 1) + std::min(t, step);
}

PointDraw::Point PointDraw::drawn(std::uint64_t seed, std::int64_t body,
                                  std::uint32_t attempt) const {
  const auto key = random::key_of(seed);
  auto counter = random::counter_of(static_cast<std::uint64_t>(body),
                                    static_cast<std::uint32_t>(field_.stream));
  counter[3] = 2 * attempt;
  const auto first = philox::generate(counter, key);
  const double r = radius(random::uniform(first[0], first[1]));
  const double other = random::uniform(first[2], first[3]);
  if (field_.components == 1) return {{other < 0.5 ? -r : r, 0, 0}};
  if (field_.components == 2) {
    const double angle = 2 * std::numbers::pi * other;
    return {{r * std::cos(angle), r * std::sin(angle), 0}};
  }
  counter[3] = 2 * attempt + 1;
  const auto second = philox::generate(counter, key);
  const double height = 2 * other - 1, across = std::sqrt(1 - height * height);
  const double angle = 2 * std::numbers::pi * random::uniform(second[0], second[1]);
  return {{r * across * std::cos(angle), r * across * std::sin(angle), r * height}};
}

void PointDraw::operator()(std::uint64_t seed, std::span<double> out) const {
  const double apart2 = field_.cutoff * field_.cutoff;
  const auto far = [&](const Point& a, const Point& b) {
    double square = 0;
    for (int i = 0; i < 3; ++i) square += (a.at[i] - b.at[i]) * (a.at[i] - b.at[i]);
    return square >= apart2;
  };
  std::int64_t body = 0;
  for (const int count : field_.leading) {
    std::vector<Point> points;
    double mean = 0;
    for (int k = 0; k < count; ++k) {
      std::uint32_t attempt = 0;
      Point point = drawn(seed, body + k, attempt);
      while (apart2 > 0 &&
             !std::ranges::all_of(points, [&](const Point& other) { return far(point, other); })) {
        if (++attempt >= kMostDraws)
          throw RunError("E0877",
                         fmt::format("a point finds no place {:.6g} from {} others in {} draws",
                                     field_.cutoff, k, kMostDraws),
                         "a smaller `apart`, or a density that reaches farther");
        point = drawn(seed, body + k, attempt);
      }
      points.push_back(point);
      mean += point.at[field_.entry] / count;
    }
    if (field_.as_it_is) mean = 0;
    for (const Point& point : points)
      out[static_cast<std::size_t>(body++)] = field_.amplitude * (point.at[field_.entry] - mean);
  }
}

}  // namespace vphi::runtime
