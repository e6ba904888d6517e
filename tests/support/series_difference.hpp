// The difference of two runs in one of their series.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "runtime/run/run.hpp"

namespace vphi::testing {

/// The largest difference of a series, of all instances, over the largest value of `b`. Both must
/// have the same number of points, and `b` a value that is not 0.
inline double largest_difference(const runtime::Series& a, const runtime::Series& b) {
  double most = 0, size = 0;
  const auto take = [&](double x, double y) {
    most = std::fmax(most, std::fabs(x - y)), size = std::fmax(size, std::fabs(y));
  };
  EXPECT_EQ(a.points.size(), b.points.size());
  EXPECT_EQ(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < b.points.size(); ++i) take(a.points[i].second, b.points[i].second);
  for (std::size_t i = 0; i < b.values.size(); ++i)
    for (std::size_t k = 0; k < b.values[i].size(); ++k) take(a.values[i][k], b.values[i][k]);
  EXPECT_GT(size, 0);
  return most / size;
}

/// The same for the series `name`, which both runs must have.
inline double largest_difference(const runtime::RunResult& a, const runtime::RunResult& b,
                                 const std::string& name) {
  return largest_difference(*a.find(name), *b.find(name));
}

}  // namespace vphi::testing
