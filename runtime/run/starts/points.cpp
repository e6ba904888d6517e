#include "runtime/run/starts/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <string>

#include "runtime/random/philox.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

namespace {

constexpr std::uint32_t kMostDraws = 100000;
constexpr double kTurn = 2 * std::numbers::pi;

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

/// Starts that are drawn again ask for the same few densities again and again.
std::shared_ptr<SharedDensity> known_density(const program::PointDensity& density) {
  constexpr std::size_t kKnown = 8;
  static std::mutex mutex;
  static std::vector<std::shared_ptr<SharedDensity>> known;
  const std::scoped_lock lock(mutex);
  for (const auto& own : known)
    if (own->density() == density) return own;
  if (known.size() == kKnown) known.erase(known.begin());
  return known.emplace_back(std::make_shared<SharedDensity>(density));
}

}  // namespace

// ---- what draws share ---------------------------------------------------------------------------

SharedDensity::SharedDensity(const program::PointDensity& density) : density_(density) {
  const std::vector<double>& profile = density_.profile;
  const double step = density_.reach / static_cast<double>(profile.size() - 1);
  double before = 0, sum = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const double r = step * static_cast<double>(i);
    const double weight = profile[i] * std::pow(r, density_.components - 1);
    if (i > 0) sum += (before + weight) / 2 * step;
    weights_.push_back(weight);
    within_.push_back(sum);
    before = weight;
  }
}

double SharedDensity::radius(double share) const {
  const double step = density_.reach / static_cast<double>(within_.size() - 1);
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

std::shared_ptr<const program::Envelope> SharedDensity::envelope(
    const std::vector<double>& parameters) {
  constexpr std::size_t kMostEnvelopes = 64;  // of at most 4096 boxes
  if (density_.formula.steps.empty()) return nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = envelopes_.find(parameters); found != envelopes_.end())
      return found->second;
  }
  const auto made = std::make_shared<const program::Envelope>(density_, parameters);
  const double integral = made->integral();
  if (!(integral > 0 && std::isfinite(integral))) {
    const auto at = made->unbounded();
    throw RunError("E0876",
                   integral > 0
                       ? fmt::format("no bound of a density of points was found near ({:.6g})",
                                     fmt::join(at.begin(), at.begin() + density_.components, ", "))
                       : std::string("a density of points is 0 at all places"),
                   "points lie where their density is above 0, and it is bounded everywhere");
  }
  const std::scoped_lock lock(mutex_);
  if (envelopes_.size() == kMostEnvelopes) envelopes_.clear();
  return envelopes_.try_emplace(parameters, made).first->second;
}

SharedDensity::Points SharedDensity::take(const Key& key, int entry) {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  const Points points = found->second.points;
  found->second.taken |= 1U << entry;
  if (found->second.taken + 1 == 1U << density_.components) {
    kept_points_ -= points->size();
    kept_.erase(found);
  }
  return points;
}

void SharedDensity::keep(const Key& key, int entry, const Points& points) {
  constexpr std::size_t kMostPoints = std::size_t{1} << 22;
  if (density_.components == 1 || points->size() > kMostPoints) return;
  const std::scoped_lock lock(mutex_);
  if (kept_points_ + points->size() > kMostPoints) kept_.clear(), kept_points_ = 0;
  if (kept_.try_emplace(key, Kept{points, 1U << entry}).second) kept_points_ += points->size();
}

// ---- draws --------------------------------------------------------------------------------------

PointDraw::PointDraw(const program::Program& program, const program::RandomField& field)
    : components_(field.components),
      entry_(field.entry),
      stream_(static_cast<std::uint32_t>(field.stream)),
      amplitude_(field.amplitude),
      shared_(known_density(program.densities[static_cast<std::size_t>(field.density)])) {}

std::array<double, 2> PointDraw::uniform(std::uint64_t seed, std::uint64_t index,
                                         std::uint32_t place) const {
  auto counter = random::counter_of(index, stream_);
  counter[3] = place;
  const auto words = philox::generate(counter, random::key_of(seed));
  return {random::uniform(words[0], words[1]), random::uniform(words[2], words[3])};
}

Place PointDraw::by_distance(std::uint64_t seed, std::int64_t body, std::uint32_t attempt) const {
  const auto index = static_cast<std::uint64_t>(body);
  const auto [share, other] = uniform(seed, index, 2 * attempt);
  const double r = shared_->radius(share);
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

Place PointDraw::drawn(std::uint64_t seed, std::int64_t body, std::uint32_t& attempt) const {
  if (!envelope_) return by_distance(seed, body, attempt);
  for (; attempt < kMostDraws; ++attempt)
    if (const auto place = tried(seed, body, attempt)) return *place;
  throw RunError(
      "E0876", fmt::format("no point of a density was found in {} draws", kMostDraws),
      "a smaller `reach`, or a density that is a sum of a few terms: its bound is made of "
      "bounds of the terms");
}

std::vector<Place> PointDraw::species(std::uint64_t seed, std::int64_t first, int count) const {
  const double apart2 = shared_->density().apart * shared_->density().apart;
  std::vector<Place> points;
  for (int k = 0; k < count; ++k) {
    std::uint32_t attempt = 0;
    Place point = drawn(seed, first + k, attempt);
    const auto far = [&](const Place& other) { return distance2(point, other) >= apart2; };
    while (apart2 > 0 && !std::ranges::all_of(points, far)) {
      if (++attempt >= kMostDraws)
        throw RunError("E0877",
                       fmt::format("a point finds no place {:.6g} from {} others in {} draws",
                                   shared_->density().apart, k, kMostDraws),
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

std::vector<Place> PointDraw::points(std::uint64_t seed, const std::vector<double>& parameters) {
  envelope_ = shared_->envelope(parameters);
  std::vector<Place> all;
  for (std::size_t number = 0; number < shared_->density().species.size(); ++number) {
    std::vector<Place> own = species(seed, std::ssize(all), shared_->density().species[number]);
    if (shared_->density().turned) turn(seed, number, own);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void PointDraw::operator()(std::uint64_t seed, const std::vector<double>& parameters,
                           std::span<double> out) {
  const SharedDensity::Key key{seed, stream_, parameters};
  SharedDensity::Points all = shared_->take(key, entry_);
  if (!all) {
    all = std::make_shared<const std::vector<Place>>(points(seed, parameters));
    shared_->keep(key, entry_, all);
  }
  const auto entry = static_cast<std::size_t>(entry_);
  std::size_t first = 0;
  for (const int count : shared_->density().species) {
    const std::span own(all->data() + first, static_cast<std::size_t>(count));
    double mean = 0;
    if (shared_->density().centred)
      for (const Place& point : own) mean += point[entry] / count;
    for (std::size_t k = 0; k < own.size(); ++k)
      out[first + k] = amplitude_ * (own[k][entry] - mean);
    first += own.size();
  }
}

}  // namespace vphi::runtime
