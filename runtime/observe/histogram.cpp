#include "runtime/observe/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "runtime/parallel.hpp"

namespace vphi::observe {

using program::HistogramAxis;
using std::int64_t;

namespace {

constexpr int64_t kBelow = -1, kAbove = -2, kInvalid = -3;

/// One axis with its range found: value to bin.
class Scale {
 public:
  Scale(std::span<const double> values, const HistogramAxis& axis)
      : axis_(with_range(axis, values)) {
    low_ = place(axis_.low), high_ = place(axis_.high);
    scale_ = axis_.bins / (high_ - low_);
  }

  int64_t bin(double v) const {
    if (std::isnan(v)) return kInvalid;
    if (v < axis_.low) return kBelow;
    if (v > axis_.high) return kAbove;
    const auto at = static_cast<int64_t>((place(v) - low_) * scale_);
    return std::clamp<int64_t>(at, 0, axis_.bins - 1);
  }

  std::vector<double> edges() const {
    std::vector<double> out;
    for (int i = 0; i <= axis_.bins; ++i) {
      const double at = low_ + (high_ - low_) * i / axis_.bins;
      out.push_back(axis_.log ? std::exp(at) : at);
    }
    out.front() = axis_.low, out.back() = axis_.high;
    return out;
  }

 private:
  double place(double v) const { return axis_.log ? std::log(v) : v; }

  HistogramAxis axis_;
  double low_ = 0, high_ = 1, scale_ = 1;
};

}  // namespace

HistogramAxis with_range(HistogramAxis axis, std::span<const double> values) {
  if (!axis.find_low && !axis.find_high) return axis;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double v : values) {
    if (!std::isfinite(v) || (axis.log && v <= 0)) continue;
    least = std::min(least, v), most = std::max(most, v);
  }
  if (!(least <= most)) least = most = axis.log ? 1 : 0;  // no finite value
  if (axis.find_low) axis.low = axis.find_high ? least : std::min(least, axis.high);
  if (axis.find_high) axis.high = std::max(most, axis.low);
  if (axis.high > axis.low) return axis;
  const double wider = axis.log ? 0 : std::max(1.0, std::abs(axis.low)) * 1e-6;
  if (axis.find_high) {
    axis.high = axis.log ? axis.low * 2 : axis.low + wider;
  } else {
    axis.low = axis.log ? axis.high / 2 : axis.high - wider;
  }
  return axis;
}

double Histogram::density(std::size_t bin) const {
  const auto inside = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double width = edges[0][bin + 1] - edges[0][bin];
  return inside > 0 ? static_cast<double>(counts[bin]) / (static_cast<double>(inside) * width) : 0;
}

Histogram histogram(const std::vector<std::span<const double>>& values,
                    const std::vector<HistogramAxis>& axes, int threads) {
  Histogram result;
  std::vector<Scale> scales;
  std::size_t bins = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    scales.emplace_back(values[a], axes[a]);
    result.edges.push_back(scales.back().edges());
    bins *= static_cast<std::size_t>(axes[a].bins);
  }
  result.counts.resize(bins);
  std::mutex adding;
  runtime::parallel_ranges(
      static_cast<int64_t>(values[0].size()), threads, [&](int64_t begin, int64_t end) {
        Histogram own;
        own.counts.resize(bins);
        for (int64_t i = begin; i < end; ++i) {
          int64_t at = 0;
          for (std::size_t a = 0; a < axes.size() && at >= 0; ++a) {
            const int64_t bin = scales[a].bin(values[a][static_cast<std::size_t>(i)]);
            at = bin < 0 ? bin : at * axes[a].bins + bin;
          }
          if (at >= 0) {
            ++own.counts[static_cast<std::size_t>(at)];
          } else {
            const bool below = at == kBelow && axes.size() == 1;
            ++(at == kInvalid ? own.invalid : below ? own.below : own.above);
          }
        }
        const std::lock_guard lock(adding);
        for (std::size_t b = 0; b < bins; ++b) result.counts[b] += own.counts[b];
        result.below += own.below, result.above += own.above, result.invalid += own.invalid;
      });
  return result;
}

}  // namespace vphi::observe
