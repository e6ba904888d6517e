#include "runtime/run/starts/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "runtime/random/philox.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

namespace {

constexpr std::uint32_t kMostDraws = 100000;
constexpr double kTurn = 2 * std::numbers::pi;

using Place = std::array<double, 3>;

double distance2(const Place& a, const Place& b) {
  double square = 0;
  for (std::size_t i = 0; i < 3; ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return square;
}

/// A rotation of space from three numbers in (0, 1), any as likely: the matrix of a unit quaternion
/// (Shoemake, Graphics Gems III, 1992).
std::array<Place, 3> rotation(double u, double v, double w) {
  const double a = std::sqrt(1 - u), b = std::sqrt(u);
  const double x = a * std::sin(kTurn * v), y = a * std::cos(kTurn * v);
  const double z = b * std::sin(kTurn * w), s = b * std::cos(kTurn * w);
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)},
           {2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)},
           {2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)}}};
}

}  // namespace

namespace {

std::shared_ptr<const ReadDensity> read_density(const std::string& text, int components) {
  auto made = std::make_shared<ReadDensity>();
  made->density = program::point_density(text, components);
  const std::vector<double>& profile = made->density.profile;
  const double step = made->density.reach / static_cast<double>(profile.size() - 1);
  double before = 0, sum = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const double r = step * static_cast<double>(i);
    const double weight = profile[i] * std::pow(r, components - 1);
    if (i > 0) sum += (before + weight) / 2 * step;
    made->weights.push_back(weight);
    made->within.push_back(sum);
    before = weight;
  }
  return made;
}

/// Starts that are drawn again ask for the same few densities again and again.
std::shared_ptr<const ReadDensity> known_density(const std::string& text, int components) {
  constexpr std::size_t kKept = 8;
  static std::mutex mutex;
  static std::vector<std::tuple<std::string, int, std::shared_ptr<const ReadDensity>>> known;
  const std::scoped_lock lock(mutex);
  for (const auto& [own, size, density] : known)
    if (size == components && own == text) return density;
  if (known.size() == kKept) known.erase(known.begin());
  known.emplace_back(text, components, read_density(text, components));
  return std::get<2>(known.back());
}

}  // namespace

PointDraw::PointDraw(const program::RandomField& field)
    : components_(field.components),
      entry_(field.entry),
      stream_(static_cast<std::uint32_t>(field.stream)),
      amplitude_(field.amplitude),
      read_(known_density(field.file, field.components)) {}

/// The radius within which this share of the points lies.
double PointDraw::radius(double share) const {
  const double step = read_->density.reach / static_cast<double>(read_->within.size() - 1);
  const double wanted = share * read_->within.back();
  const auto above = std::upper_bound(read_->within.begin() + 1, read_->within.end() - 1, wanted);
  const auto i = static_cast<std::size_t>(above - read_->within.begin());
  const double a = read_->weights[i - 1], slope = (read_->weights[i] - a) / step;
  const double rest = wanted - read_->within[i - 1];
  // a t + slope t^2/2 = rest
  const double root = a + std::sqrt(std::max(0.0, a * a + 2 * slope * rest));
  const double t = root > 0 ? 2 * rest / root : 0;
  return step * static_cast<double>(i - 1) + std::min(t, step);
}

std::array<double, 2> PointDraw::uniform(std::uint64_t seed, std::uint64_t index,
                                         std::uint32_t place) const {
  auto counter = random::counter_of(index, stream_);
  counter[3] = place;
  const auto words = philox::generate(counter, random::key_of(seed));
  return {random::uniform(words[0], words[1]), random::uniform(words[2], words[3])};
}

PointDraw::Place PointDraw::by_distance(std::uint64_t seed, std::int64_t body,
                                        std::uint32_t attempt) const {
  const auto index = static_cast<std::uint64_t>(body);
  const auto [share, other] = uniform(seed, index, 2 * attempt);
  const double r = radius(share);
  if (components_ == 1) return {other < 0.5 ? -r : r, 0, 0};
  if (components_ == 2) return {r * std::cos(kTurn * other), r * std::sin(kTurn * other), 0};
  const double height = 2 * other - 1, across = std::sqrt(1 - height * height);
  const double angle = kTurn * uniform(seed, index, 2 * attempt + 1)[0];
  return {r * across * std::cos(angle), r * across * std::sin(angle), r * height};
}

/// A place of the envelope, where it is kept.
std::optional<Place> PointDraw::tried(std::uint64_t seed, std::int64_t body,
                                      std::uint32_t attempt) const {
  const auto index = static_cast<std::uint64_t>(body);
  const auto [box, keep] = uniform(seed, index, 3 * attempt);
  const auto [x, y] = uniform(seed, index, 3 * attempt + 1);
  const program::Envelope::Draw draw =
      (*envelope_)({box, x, y, uniform(seed, index, 3 * attempt + 2)[0]});
  const double f = envelope_->density(draw.at);
  if (!(f >= 0 && f <= draw.bound))
    throw RunError("E0876",
                   fmt::format("a density of points is {:.6g} at ({:.6g})", f,
                               fmt::join(draw.at.begin(), draw.at.begin() + components_, ", ")),
                   "a density is a finite number, not below 0, at every place up to `reach`");
  if (keep * draw.bound < f) return draw.at;
  return std::nullopt;
}

PointDraw::Place PointDraw::drawn(std::uint64_t seed, std::int64_t body,
                                  std::uint32_t& attempt) const {
  if (!envelope_) return by_distance(seed, body, attempt);
  for (; attempt < kMostDraws; ++attempt)
    if (const auto place = tried(seed, body, attempt)) return *place;
  throw RunError(
      "E0876", fmt::format("no point of a density was found in {} draws", kMostDraws),
      "a smaller `reach`, or a density that is a sum of a few terms: its bound is made of "
      "bounds of the terms");
}

void PointDraw::enclose(const std::vector<double>& parameters) {
  if (read_->density.formula.steps.empty() || (envelope_ && enclosed_ == parameters)) return;
  envelope_.emplace(read_->density, components_, parameters);
  enclosed_ = parameters;
  const double integral = envelope_->integral();
  if (integral > 0 && std::isfinite(integral)) return;
  const auto& at = envelope_->unbounded();
  throw RunError("E0876",
                 integral > 0
                     ? fmt::format("no bound of a density of points was found near ({:.6g})",
                                   fmt::join(at.begin(), at.begin() + components_, ", "))
                     : std::string("a density of points is 0 at all places"),
                 "points lie where their density is above 0, and it is bounded everywhere");
}

std::vector<PointDraw::Place> PointDraw::species(std::uint64_t seed, std::int64_t first,
                                                 int count) const {
  const double apart2 = read_->density.apart * read_->density.apart;
  std::vector<Place> points;
  for (int k = 0; k < count; ++k) {
    std::uint32_t attempt = 0;
    Place point = drawn(seed, first + k, attempt);
    const auto far = [&](const Place& other) { return distance2(point, other) >= apart2; };
    while (apart2 > 0 && !std::ranges::all_of(points, far)) {
      if (++attempt >= kMostDraws)
        throw RunError("E0877",
                       fmt::format("a point finds no place {:.6g} from {} others in {} draws",
                                   read_->density.apart, k, kMostDraws),
                       "a smaller `apart`, or a density that reaches farther");
      point = drawn(seed, first + k, attempt);
    }
    points.push_back(point);
  }
  return points;
}

/// About the origin. Its numbers are behind those of all bodies.
void PointDraw::turn(std::uint64_t seed, std::uint64_t species, std::vector<Place>& points) const {
  const std::uint64_t index = ~species;
  const auto [u, v] = uniform(seed, index, 0);
  if (components_ == 1) {
    for (Place& p : points) p[0] = u < 0.5 ? -p[0] : p[0];
    return;
  }
  auto matrix = rotation(u, v, uniform(seed, index, 1)[0]);
  if (components_ == 2) {
    const double c = std::cos(kTurn * u), s = std::sin(kTurn * u);
    matrix = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
  }
  for (Place& p : points) {
    const Place before = p;
    for (std::size_t i = 0; i < 3; ++i)
      p[i] = matrix[i][0] * before[0] + matrix[i][1] * before[1] + matrix[i][2] * before[2];
  }
}

void PointDraw::operator()(std::uint64_t seed, const std::vector<double>& parameters,
                           std::span<double> out) {
  enclose(parameters);
  const auto entry = static_cast<std::size_t>(entry_);
  std::int64_t body = 0;
  for (std::size_t number = 0; number < read_->density.species.size(); ++number) {
    const int count = read_->density.species[number];
    std::vector<Place> points = species(seed, body, count);
    if (read_->density.turned) turn(seed, number, points);
    double mean = 0;
    if (read_->density.centred)
      for (const Place& point : points) mean += point[entry] / count;
    for (const Place& point : points)
      out[static_cast<std::size_t>(body++)] = amplitude_ * (point[entry] - mean);
  }
}

}  // namespace vphi::runtime
