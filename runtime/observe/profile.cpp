#include "runtime/observe/profile.hpp"

#include <algorithm>

namespace vphi::observe {

using std::int64_t;

namespace {

/// Means over shells of the distance (in units of dx) that `distance(site coordinates)` gives.
template <class Distance>
std::vector<ProfilePoint> by_distance(const Grid& grid, std::span<const double> values,
                                      const Distance& distance) {
  std::vector<ProfilePoint> bins;
  std::array<int64_t, 4> at{};
  for (std::size_t site = 0; site < values.size(); ++site) {
    auto rest = static_cast<int64_t>(site);
    for (int axis = 0; axis < 4; ++axis) {
      at[axis] = rest % grid.extent[axis];
      rest /= grid.extent[axis];
    }
    const double r = distance(at);
    const auto l = static_cast<std::size_t>(r + 0.5);
    if (l >= bins.size()) bins.resize(l + 1);
    bins[l].x += r * grid.dx, bins[l].mean += values[site], bins[l].count += 1;
  }
  std::erase_if(bins, [](const ProfilePoint& bin) { return bin.count == 0; });
  for (ProfilePoint& bin : bins) bin.x /= bin.count, bin.mean /= bin.count;
  return bins;
}

}  // namespace

std::vector<ProfilePoint> axis_profile(const Grid& grid, std::span<const double> values, int axis,
                                       Origin origin) {
  const int64_t n = grid.extent[axis];
  int64_t stride = 1;
  for (int before = 0; before < axis; ++before) stride *= grid.extent[before];
  std::vector<ProfilePoint> out(static_cast<std::size_t>(n));
  for (std::size_t site = 0; site < values.size(); ++site)
    out[static_cast<std::size_t>(static_cast<int64_t>(site) / stride % n)].mean += values[site];
  const double others = static_cast<double>(values.size()) / static_cast<double>(n);
  const double first = origin == Origin::Middle ? -static_cast<double>(n - 1) / 2 : 0;
  for (int64_t i = 0; i < n; ++i) {
    out[i].x = (first + static_cast<double>(i)) * grid.dx;
    out[i].mean /= others;
    out[i].count = others;
  }
  return out;
}

std::vector<ProfilePoint> radial_profile(const Grid& grid, std::span<const double> values) {
  return by_distance(grid, values, [&](const std::array<int64_t, 4>& at) {
    double sum = 0;
    for (int axis = 0; axis < grid.dims; ++axis)
      sum += std::pow(
          static_cast<double>(at[axis]) - static_cast<double>(grid.extent[axis] - 1) / 2, 2);
    return std::sqrt(sum);
  });
}

void add_product(const Grid& grid, std::span<const double> f, std::span<const double> g,
                 double weight, std::vector<fft::Complex>& products) {
  const bool same = f.data() == g.data();
  const auto a = transform(grid, f);
  const auto b = same ? std::vector<fft::Complex>() : transform(grid, g);
  for (std::size_t i = 0; i < a.size(); ++i)
    products[i] += weight * std::conj(a[i]) * (same ? a[i] : b[i]);
}

std::vector<double> correlations(const Grid& grid, std::vector<fft::Complex> products) {
  products[0] = 0;
  std::vector<double> c(static_cast<std::size_t>(grid.sites()));
  fft::inverse(grid.box(), products.data(), c.data(), grid.threads);
  const double sites = static_cast<double>(grid.sites());
  for (double& value : c) value /= sites * sites;
  return c;
}

std::vector<ProfilePoint> axis_correlator(const Grid& grid, const std::vector<double>& c,
                                          int axis) {
  const int64_t n = grid.extent[axis];
  int64_t stride = 1;
  for (int before = 0; before < axis; ++before) stride *= grid.extent[before];
  std::vector<ProfilePoint> out;
  for (int64_t i = 0; 2 * i <= n; ++i) {
    const double mean = (c[static_cast<std::size_t>(i * stride)] +
                         c[static_cast<std::size_t>((n - i) % n * stride)]) /
                        2;
    out.push_back({static_cast<double>(i) * grid.dx, mean, 2.0 * i == n || i == 0 ? 1.0 : 2.0});
  }
  return out;
}

std::vector<ProfilePoint> radial_correlator(const Grid& grid, const std::vector<double>& c) {
  return by_distance(grid, c, [&](const std::array<int64_t, 4>& at) {
    double sum = 0;
    for (int axis = 0; axis < grid.dims; ++axis)
      sum += std::pow(static_cast<double>(std::min(at[axis], grid.extent[axis] - at[axis])), 2);
    return std::sqrt(sum);
  });
}

}  // namespace vphi::observe
