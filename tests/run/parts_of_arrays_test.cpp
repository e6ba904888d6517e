// Outputs that read arrays in parts: the same numbers as of whole arrays, and never more at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/observe/histogram.hpp"
#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {
namespace {

std::vector<double> some_values(std::size_t count, double shift) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = shift + std::sin(0.37 * static_cast<double>(i * i % 101));
  values[count / 3] = std::numeric_limits<double>::quiet_NaN();
  values[count / 2] = std::numeric_limits<double>::infinity();
  return values;
}

program::HistogramAxis axis_of(int bins, bool find_low, bool find_high, bool log) {
  program::HistogramAxis axis;
  axis.bins = bins, axis.low = 0.25, axis.high = 2.5, axis.log = log;
  axis.find_low = find_low, axis.find_high = find_high;
  return axis;
}

TEST(PartsOfArrays, AHistogramHasTheCountsOfWholeArrays) {
  const std::vector<std::vector<double>> lists{some_values(1000, 1.5), some_values(1000, 0.5)};
  for (const bool low : {false, true})
    for (const bool high : {false, true})
      for (const std::size_t axes : {1, 2}) {
        std::vector<program::HistogramAxis> wanted{axis_of(7, low, high, true)};
        if (axes == 2) wanted.push_back(axis_of(5, high, low, false));
        std::vector<std::span<const double>> whole{lists[0]};
        if (axes == 2) whole.emplace_back(lists[1]);
        const Histogram expected = histogram(whole, wanted, 1);
        ASSERT_GT(std::accumulate(expected.counts.begin(), expected.counts.end(), 0L), 500);
        for (const std::size_t at_once : {1, 7, 999, 1000, 5000}) {
          std::size_t most = 0;
          const auto read = [&](std::size_t axis, std::size_t first, std::size_t count) {
            most = std::max(most, count);
            const auto begin = lists[axis].begin() + static_cast<std::ptrdiff_t>(first);
            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
          };
          const Histogram made = histogram(read, 1000, at_once, wanted, 2);
          EXPECT_LE(most, at_once);
          EXPECT_EQ(made.counts, expected.counts) << at_once;
          EXPECT_EQ(made.edges, expected.edges) << at_once;
          EXPECT_EQ(made.below, expected.below);
          EXPECT_EQ(made.above, expected.above);
          EXPECT_EQ(made.invalid, expected.invalid);
        }
      }
}

/// Planes across each axis of a box, whose numbers are those of its sites.
TEST(PartsOfArrays, APlaneIsReadInParts) {
  const std::int64_t nx = 3, ny = 5, nz = 70;
  const auto number = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<double>((z * ny + y) * nx + x);
  };
  for (const std::int64_t at_once : {1, 20, 100, 100000}) {
    std::size_t most = 0;
    const auto read = [&](std::size_t first, std::size_t count) {
      most = std::max(most, count);
      std::vector<double> values(count);
      std::iota(values.begin(), values.end(), static_cast<double>(first));
      EXPECT_LE(first + count, static_cast<std::size_t>(nx * ny * nz));
      return values;
    };
    std::vector<double> across_x, across_y, across_z;
    for (std::int64_t z = 0; z < nz; ++z) {
      for (std::int64_t y = 0; y < ny; ++y) across_x.push_back(number(2, y, z));
      for (std::int64_t x = 0; x < nx; ++x) across_y.push_back(number(x, 4, z));
    }
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x) across_z.push_back(number(x, y, 69));
    EXPECT_EQ(plane_of({1, nx, ny * nz, 2}, at_once, read), across_x);
    EXPECT_EQ(plane_of({nx, ny, nz, 4}, at_once, read), across_y);
    EXPECT_LE(most, static_cast<std::size_t>(std::max(at_once, nx)));
    EXPECT_EQ(plane_of({nx * ny, nz, 1, 69}, at_once, read), across_z);
  }
}

}  // namespace
}  // namespace vphi::observe
