#include "runtime/observe/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "runtime/parallel.hpp"

namespace vphi::observe {

using program::HistogramAxis;
using std::int64_t;

namespace {

constexpr int64_t kBelow = -1, kAbove = -2, kInvalid = -3;

/// One axis with its range found: value to bin.
class Scale {
 public:
  explicit Scale(const HistogramAxis& with_range) : axis_(with_range) {
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

/// The finite values of an axis, of which its missing limits are those.
struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(const HistogramAxis& axis, std::span<const double> values) {
    for (const double v : values) {
      if (!std::isfinite(v) || (axis.log && v <= 0)) continue;
      least = std::min(least, v), most = std::max(most, v);
    }
  }
};

bool finds_range(const HistogramAxis& axis) { return axis.find_low || axis.find_high; }

HistogramAxis limited(HistogramAxis axis, Range range) {
  if (!finds_range(axis)) return axis;
  auto [least, most] = range;
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

/// Counts values, list after list.
class Counter {
 public:
  /// Of axes whose ranges are known.
  Counter(const std::vector<HistogramAxis>& axes, int threads) : threads_(threads) {
    std::size_t bins = 1;
    for (const HistogramAxis& axis : axes) {
      scales_.emplace_back(axis);
      bins_.push_back(axis.bins);
      result_.edges.push_back(scales_.back().edges());
      bins *= static_cast<std::size_t>(axis.bins);
    }
    result_.counts.resize(bins);
  }

  void add(const std::vector<std::span<const double>>& values) {
    runtime::parallel_ranges(static_cast<int64_t>(values[0].size()), threads_,
                             [&](int64_t begin, int64_t end) { add(values, begin, end); });
  }

  Histogram result() { return std::move(result_); }

 private:
  void add(const std::vector<std::span<const double>>& values, int64_t begin, int64_t end) {
    Histogram own;
    own.counts.resize(result_.counts.size());
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = 0;
      for (std::size_t a = 0; a < scales_.size() && at >= 0; ++a) {
        const int64_t bin = scales_[a].bin(values[a][static_cast<std::size_t>(i)]);
        at = bin < 0 ? bin : at * bins_[a] + bin;
      }
      if (at >= 0) {
        ++own.counts[static_cast<std::size_t>(at)];
      } else {
        const bool below = at == kBelow && scales_.size() == 1;
        ++(at == kInvalid ? own.invalid : below ? own.below : own.above);
      }
    }
    const std::lock_guard lock(adding_);
    for (std::size_t b = 0; b < own.counts.size(); ++b) result_.counts[b] += own.counts[b];
    result_.below += own.below, result_.above += own.above, result_.invalid += own.invalid;
  }

  int threads_;
  std::vector<Scale> scales_;
  std::vector<int64_t> bins_;
  std::mutex adding_;
  Histogram result_;
};

}  // namespace

HistogramAxis with_range(HistogramAxis axis, std::span<const double> values) {
  Range range;
  if (finds_range(axis)) range.add(axis, values);
  return limited(axis, range);
}

double Histogram::density(std::size_t bin) const {
  const auto inside = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double width = edges[0][bin + 1] - edges[0][bin];
  return inside > 0 ? static_cast<double>(counts[bin]) / (static_cast<double>(inside) * width) : 0;
}

Histogram histogram(const std::vector<std::span<const double>>& values,
                    const std::vector<HistogramAxis>& axes, int threads) {
  std::vector<HistogramAxis> known;
  for (std::size_t a = 0; a < axes.size(); ++a) known.push_back(with_range(axes[a], values[a]));
  Counter counter(known, threads);
  counter.add(values);
  return counter.result();
}

Histogram histogram(const ReadValues& values, std::size_t sites, std::size_t at_once,
                    const std::vector<HistogramAxis>& axes, int threads) {
  std::vector<std::vector<double>> lists(axes.size());
  const auto read = [&](std::size_t axis, std::size_t first) {
    lists[axis] = values(axis, first, std::min(at_once, sites - first));
  };
  const auto each_part = [&](const auto& see) {
    for (std::size_t first = 0; first < sites; first += at_once) see(first);
  };
  if (sites <= at_once) {
    for (std::size_t a = 0; a < axes.size(); ++a) read(a, 0);
    return histogram({lists.begin(), lists.end()}, axes, threads);
  }
  std::vector<HistogramAxis> known = axes;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!finds_range(axes[a])) continue;
    Range range;
    each_part([&](std::size_t first) { read(a, first), range.add(axes[a], lists[a]); });
    known[a] = limited(axes[a], range);
  }
  Counter counter(known, threads);
  each_part([&](std::size_t first) {
    for (std::size_t a = 0; a < axes.size(); ++a) read(a, first);
    counter.add({lists.begin(), lists.end()});
  });
  return counter.result();
}

}  // namespace vphi::observe
