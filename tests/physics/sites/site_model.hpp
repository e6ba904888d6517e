// A chain of fields at sites as a model, and averages of it beside exact ones.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/simulate.hpp"

namespace vphi::testing {

inline bool has_native() { return device("native") != nullptr; }

struct SiteModel {
  std::string field, action, lattice, sample, start, measured;
  int sweeps = 8000, skip = 200;
  std::string more = {};
  bool chaotic = false;  ///< overrelaxation multiplies rounding errors in each sweep

  std::string text() const {
    return "model chain \"sites\"\nlattice grid: " + lattice + "\n" + field +
           "\naction S = " + action + "\nsample " + sample +
           ", sweeps = " + std::to_string(sweeps) + "\ninit " + start + "\n" + more +
           "every 1 sweep, after = sweep > " + std::to_string(skip) + ": " + measured +
           " -> \"c.csv\"\n";
  }
};

/// Within four standard errors, which are below `most`.
inline void expect_average_of(const runtime::RunResult& result, const std::string& name,
                              double exact, double most) {
  for (const auto& series : result.chain) {
    if (series.name != name) continue;
    EXPECT_NEAR(series.average.mean, exact, 4 * series.average.error) << name;
    EXPECT_GT(series.average.error, 0) << name;
    EXPECT_LT(series.average.error, most) << name;
    return;
  }
  ADD_FAILURE() << "no series " << name;
}

}  // namespace vphi::testing
