#include "runtime/io/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include "runtime/fft/fft.hpp"
#include "runtime/parallel.hpp"

namespace vphi::io {

using std::int64_t;
using std::numbers::pi;

std::vector<SpectrumBin> spectrum(std::span<const double> values,
                                  const std::array<int64_t, 4>& extent, int dims, double dx,
                                  int threads) {
  if (dims > 3) return {};
  const fft::Box box{{extent[0], extent[1], extent[2]}};
  std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
  fft::forward(box, values.data(), modes.data(), threads);

  const int64_t longest = *std::max_element(box.n.begin(), box.n.end());
  std::array<double, 3> unit{};  // k_i/k_IR per mode number
  double corner = 0;
  for (int axis = 0; axis < 3; ++axis) {
    unit[axis] = static_cast<double>(longest) / static_cast<double>(box.n[axis]);
    corner += std::pow(unit[axis] * static_cast<double>(box.n[axis] / 2), 2);
  }
  const auto bins = static_cast<std::size_t>(std::sqrt(corner) + 0.5) + 1;

  // One partial sum for each plane, added in order: the same bits with any number of threads.
  struct Sum {
    double power = 0;
    int64_t modes = 0;
  };
  std::vector<std::vector<Sum>> planes(static_cast<std::size_t>(box.n[2]));
  runtime::parallel_ranges(box.n[2], threads, [&](int64_t begin, int64_t end) {
    for (int64_t z = begin; z < end; ++z) {
      std::vector<Sum> sums(bins);
      const double kz = unit[2] * static_cast<double>(std::min(z, box.n[2] - z));
      for (int64_t y = 0; y < box.n[1]; ++y) {
        const double ky = unit[1] * static_cast<double>(std::min(y, box.n[1] - y));
        for (int64_t x = 0; x < box.half(); ++x) {
          const double kx = unit[0] * static_cast<double>(x);
          const auto l = static_cast<std::size_t>(std::sqrt(kx * kx + ky * ky + kz * kz) + 0.5);
          const bool own_mirror = x == 0 || 2 * x == box.n[0];
          const int weight = own_mirror ? 1 : 2;
          sums[l].power += weight * std::norm(modes[(z * box.n[1] + y) * box.half() + x]);
          sums[l].modes += weight;
        }
      }
      planes[z] = std::move(sums);
    }
  });

  const double k_ir = 2 * pi / (static_cast<double>(longest) * dx);
  const double normal = std::pow(dx, dims) / static_cast<double>(box.sites());
  const double sphere = dims == 3 ? 1 / (2 * pi * pi) : dims == 2 ? 1 / (2 * pi) : 1 / pi;
  std::vector<SpectrumBin> out;
  for (std::size_t l = 1; l < bins; ++l) {
    Sum sum;
    for (const auto& plane : planes) sum.power += plane[l].power, sum.modes += plane[l].modes;
    if (sum.modes == 0) continue;
    SpectrumBin bin;
    bin.k = k_ir * static_cast<double>(l);
    bin.power = normal * sum.power / static_cast<double>(sum.modes);
    bin.delta = sphere * std::pow(bin.k, dims) * bin.power;
    bin.modes = sum.modes;
    out.push_back(bin);
  }
  return out;
}

Histogram histogram(std::span<const double> values, int bins, double low, double high) {
  Histogram h{low, high, std::vector<int64_t>(static_cast<std::size_t>(bins))};
  if (low == high && !values.empty()) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    h.low = *least, h.high = *most;
    if (h.low == h.high) h.high = h.low + 1;
  }
  const double scale = bins / (h.high - h.low);
  for (double v : values) {
    // The upper end belongs to the last bin, so that a range found from the data holds all of it.
    const double at = v == h.high ? bins - 1 : std::floor((v - h.low) * scale);
    if (at >= 0 && at < bins) ++h.counts[static_cast<std::size_t>(at)];
  }
  return h;
}

std::vector<ProfilePoint> axis_profile(std::span<const double> values,
                                       const std::array<int64_t, 4>& extent, int axis, double dx) {
  const int64_t n = extent[axis];
  int64_t stride = 1;
  for (int before = 0; before < axis; ++before) stride *= extent[before];
  std::vector<ProfilePoint> out(static_cast<std::size_t>(n));
  for (std::size_t site = 0; site < values.size(); ++site)
    out[static_cast<std::size_t>(static_cast<int64_t>(site) / stride % n)].mean += values[site];
  const double others = static_cast<double>(values.size()) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    out[i].x = (static_cast<double>(i) - static_cast<double>(n - 1) / 2) * dx;
    out[i].mean /= others;
  }
  return out;
}

}  // namespace vphi::io
