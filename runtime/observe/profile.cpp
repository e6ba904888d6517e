#include "runtime/observe/profile.hpp"

#include <algorithm>

namespace vphi::observe {

using std::int64_t;

namespace {

/// The axis across planes; a single row is one plane.
int slowest_axis(const Grid& grid) {
  int axis = 3;
  while (axis > 1 && grid.extent[axis] == 1) --axis;
  return axis;
}

/// Of a site: the bin and what is added to it.
struct Entry {
  std::size_t bin = 0;
  double x = 0;
};
using Place = std::function<Entry(const std::array<int64_t, 4>& at)>;

constexpr std::size_t kNumbers = 3;  ///< position, value, count

/// Adds the sites of a plane to its bins.
void add_plane(const Grid& grid, int64_t plane, std::span<const double> values, const Place& place,
               std::span<double> bins) {
  const int slowest = slowest_axis(grid);
  std::array<int64_t, 4> at{};
  at[slowest] = plane;
  for (const double value : values) {
    const Entry entry = place(at);
    const auto bin = bins.subspan(kNumbers * entry.bin, kNumbers);
    bin[0] += entry.x, bin[1] += value, bin[2] += 1;
    for (int axis = 0; axis < slowest && ++at[axis] == grid.extent[axis]; ++axis) at[axis] = 0;
  }
}

/// Adds the bins of planes in order. They are made before a rank has its turn, as far as they need
/// little memory; many bins of many planes are made then, some planes at once.
class PlaneSums {
 public:
  /// `across`: plane k has one bin, the k-th of all; else each plane has all bins.
  PlaneSums(const Grid& grid, fft::SharedTransform& transform, std::span<const double> planes,
            std::size_t bins, bool across, const Place& place)
      : grid_(grid),
        transform_(transform),
        planes_(planes),
        sums_(kNumbers * bins),
        width_(across ? kNumbers : kNumbers * bins),
        across_(across),
        place_(place),
        sites_(static_cast<std::size_t>(grid.sites() / grid.extent[slowest_axis(grid)])) {}

  BinSums operator()() {
    constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 23;  // 67 MB
    const std::size_t own = planes_.size() / sites_;
    const std::size_t at_once =
        std::clamp<std::size_t>(kNumbersAtOnce / width_, 1, std::max<std::size_t>(own, 1));
    std::vector<double> some = bins_of(0, std::min(at_once, own));
    transform_.in_turn(sums_, [&] {
      for (std::size_t first = 0; first < own; first += at_once) {
        const std::size_t count = std::min(at_once, own - first);
        if (first > 0) some = bins_of(first, count);
        for (std::size_t i = 0; i < count; ++i)
          add(first + i, std::span(some).subspan(i * width_, width_));
      }
    });
    BinSums sums;
    if (transform_.first_plane() > 0) return sums;
    for (std::size_t at = 0; at < sums_.size(); at += kNumbers)
      sums.push_back({sums_[at], sums_[at + 1], sums_[at + 2]});
    return sums;
  }

 private:
  std::vector<double> bins_of(std::size_t first, std::size_t count) const {
    std::vector<double> bins(count * width_);
    runtime::parallel_ranges(
        static_cast<int64_t>(count), transform_.threads(), [&](int64_t begin, int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            add_plane(grid_, transform_.first_plane() + static_cast<int64_t>(first + i),
                      planes_.subspan((first + i) * sites_, sites_), place_,
                      std::span(bins).subspan(i * width_, width_));
        });
    return bins;
  }

  void add(std::size_t plane, std::span<const double> bins) {
    const std::size_t number = static_cast<std::size_t>(transform_.first_plane()) + plane;
    const std::size_t at = across_ ? number * kNumbers : 0;
    for (std::size_t i = 0; i < bins.size(); ++i) sums_[at + i] += bins[i];
  }

  const Grid& grid_;
  fft::SharedTransform& transform_;
  std::span<const double> planes_;
  std::vector<double> sums_;
  std::size_t width_;  ///< numbers of a plane
  bool across_;
  const Place& place_;
  std::size_t sites_;  ///< of a plane
};

/// Distance from a place along each axis, in units of dx.
double distance(const Grid& grid, From from, const std::array<int64_t, 4>& at) {
  double sum = 0;
  for (int axis = 0; axis < grid.dims; ++axis) {
    const int64_t n = grid.extent[axis];
    const double apart = from == From::Centre
                             ? static_cast<double>(at[axis]) - static_cast<double>(n - 1) / 2
                             : static_cast<double>(std::min(at[axis], n - at[axis]));
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

/// Of the sites that are farthest away.
double farthest(const Grid& grid, From from) {
  std::array<int64_t, 4> corner{};
  if (from == From::FirstSite)
    for (int axis = 0; axis < grid.dims; ++axis) corner[axis] = grid.extent[axis] / 2;
  return distance(grid, from, corner);
}

std::size_t bin_of(double distance) { return static_cast<std::size_t>(distance + 0.5); }

}  // namespace

BinSums axis_sums(const Grid& grid, fft::SharedTransform& transform, std::span<const double> planes,
                  int axis) {
  const bool across = axis == slowest_axis(grid);
  const Place place = [&](const std::array<int64_t, 4>& at) {
    return Entry{across ? 0 : static_cast<std::size_t>(at[axis])};
  };
  return PlaneSums(grid, transform, planes, static_cast<std::size_t>(grid.extent[axis]), across,
                   place)();
}

BinSums distance_sums(const Grid& grid, fft::SharedTransform& transform,
                      std::span<const double> planes, From from) {
  const Place place = [&](const std::array<int64_t, 4>& at) {
    const double r = distance(grid, from, at);
    return Entry{bin_of(r), r};
  };
  return PlaneSums(grid, transform, planes, bin_of(farthest(grid, from)) + 1, false, place)();
}

BinSums on_axis(const Grid& grid, fft::SharedTransform& transform, std::span<const double> planes,
                int axis) {
  const int slowest = slowest_axis(grid);
  std::size_t stride = 1, plane = 1;
  for (int before = 0; before < axis; ++before)
    stride *= static_cast<std::size_t>(grid.extent[before]);
  for (int before = 0; before < slowest; ++before)
    plane *= static_cast<std::size_t>(grid.extent[before]);
  std::vector<double> own;
  if (axis == slowest) {
    for (std::size_t at = 0; at < planes.size(); at += plane) own.push_back(planes[at]);
  } else if (transform.first_plane() == 0) {
    for (int64_t i = 0; i < grid.extent[axis] && !planes.empty(); ++i)
      own.push_back(planes[static_cast<std::size_t>(i) * stride]);
  }
  BinSums sums;
  for (const double value : transform.joined(std::move(own))) sums.push_back({0, value, 1});
  return sums;
}

std::vector<ProfilePoint> axis_profile(const Grid& grid, const BinSums& sums, Origin origin) {
  const double first = origin == Origin::Middle ? -static_cast<double>(sums.size() - 1) / 2 : 0;
  std::vector<ProfilePoint> points;
  for (const auto& [x, value, count, none, nothing] : sums) {
    const auto i = static_cast<double>(points.size());
    points.push_back({(first + i) * grid.dx, value / count, count});
  }
  return points;
}

std::vector<ProfilePoint> radial_profile(const Grid& grid, const BinSums& sums) {
  std::vector<ProfilePoint> points;
  for (const auto& [x, value, count, none, nothing] : sums)
    if (count > 0) points.push_back({x * grid.dx / count, value / count, count});
  return points;
}

std::vector<ProfilePoint> axis_correlator(const Grid& grid, const BinSums& on_axis) {
  const std::size_t n = on_axis.size();
  std::vector<ProfilePoint> points;
  for (std::size_t i = 0; 2 * i <= n && i < n; ++i) {
    const double mean = (on_axis[i][1] + on_axis[(n - i) % n][1]) / 2;
    points.push_back({static_cast<double>(i) * grid.dx, mean, 2 * i == n || i == 0 ? 1.0 : 2.0});
  }
  return points;
}

void add_product(fft::SharedTransform& transform, std::span<const double> f,
                 std::span<const double> g, double weight, std::vector<fft::Complex>& products) {
  const bool same = f.data() == g.data();
  const auto a = transform.forward(f);
  const auto b = same ? std::vector<fft::Complex>() : transform.forward(g);
  for (std::size_t i = 0; i < a.size(); ++i)
    products[i] += weight * std::conj(a[i]) * (same ? a[i] : b[i]);
}

std::vector<double> correlations(const Grid& grid, fft::SharedTransform& transform,
                                 std::vector<fft::Complex> products) {
  if (transform.columns().first == 0 && !products.empty()) products[0] = 0;
  std::vector<double> c = transform.inverse(std::move(products));
  const double sites = static_cast<double>(grid.sites());
  for (double& value : c) value /= sites * sites;
  return c;
}

}  // namespace vphi::observe
