// Histograms of the values at the sites, of one array or of two.
//
// Counts are integers, so the order of counting does not matter; each thread has bins of its own.
// Ranges that were not given are those of the data. The upper end belongs to the last bin. Bins may
// be equal in the logarithm: then only positive values can be inside. Values below and above the
// range and NaNs are counted separately. Values may be read in parts, one after the other, so that
// they need not lie in the host's memory at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vphi::observe {

struct Histogram {
  std::vector<std::vector<double>> edges;  ///< of each axis, bins + 1 of them
  std::vector<std::int64_t> counts;        ///< the last axis fastest
  /// For one axis; for two axes `above` counts all values outside.
  std::int64_t below = 0, above = 0;
  std::int64_t invalid = 0;  ///< NaN

  double density(std::size_t bin) const;  ///< 1D: counts/(sites inside * width)
};

/// The axis with missing limits set to the range of the values, widened a little where all are
/// equal.
program::HistogramAxis with_range(program::HistogramAxis axis, std::span<const double> values);

/// `values`: one list for each axis, all of one length.
Histogram histogram(const std::vector<std::span<const double>>& values,
                    const std::vector<program::HistogramAxis>& axes, int threads);

/// So many values of an axis, from number `first` on.
using ReadValues =
    std::function<std::vector<double>(std::size_t axis, std::size_t first, std::size_t count)>;
/// The same of `sites` values of each axis, of which `at_once` are read at a time: once, and once
/// more where a range is that of the data and they are not read all at once.
Histogram histogram(const ReadValues& values, std::size_t sites, std::size_t at_once,
                    const std::vector<program::HistogramAxis>& axes, int threads);

}  // namespace vphi::observe
