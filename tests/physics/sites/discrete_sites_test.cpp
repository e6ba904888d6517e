// Chains of discrete values at sites against sums over all states.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tests/physics/sites/site_model.hpp"

namespace vphi {
namespace {

using testing::expect_average_of;
using testing::has_native;
using testing::SiteModel;

struct Discrete {
  const char* name;
  std::vector<int> extent;
  std::vector<int> values;
  const char* listed;  ///< `values = ...`
  const char* action;  ///< per site
  /// The same for one site; `at` gives the value at an offset.
  std::function<double(const std::function<int(int, int)>& at)> density;
  const char* sample;
  int colours = 2;
  double most = 0.02;
};

class AllStates : public ::testing::TestWithParam<Discrete> {};

TEST_P(AllStates, AreDrawnWithTheirWeights) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const Discrete& d = GetParam();
  const int nx = d.extent[0], ny = d.extent[1], sites = nx * ny;
  std::vector<int> state(static_cast<std::size_t>(sites)), s(state.size());
  double z = 0, action = 0, square = 0, absolute = 0;
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = d.values[static_cast<std::size_t>(state[i])];
    double total = 0, sum = 0;
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        total += d.density([&](int dx, int dy) {
          return s[static_cast<std::size_t>(((y + dy + ny) % ny) * nx + (x + dx + nx) % nx)];
        });
        sum += s[static_cast<std::size_t>(y * nx + x)];
      }
    const double weight = std::exp(-total);
    z += weight;
    action += weight * total / sites;
    square += weight * sum * sum / (sites * sites);
    absolute += weight * std::fabs(sum) / sites;
    more = false;
    for (int& i : state) {
      if (++i < static_cast<int>(d.values.size())) {
        more = true;
        break;
      }
      i = 0;
    }
  }
  const SiteModel model{
      std::string("field s: int, values = ") + d.listed,
      d.action,
      std::to_string(nx) + "*" + std::to_string(ny),
      d.sample,
      "s ~ hot",
      std::string("density = mean(") + d.action + "), square = mean(s)^2, absolute = abs(mean(s))",
      20000};
  const auto compilation = testing::compile_text(model.text(), {});
  bool found = false;
  for (const auto& update : std::get<physics::MarkovChain>(compilation.system->dynamics).updates) {
    EXPECT_EQ(update.modulus, d.colours);
    found = true;
  }
  EXPECT_TRUE(found);
  const auto result = testing::run_text(model.text(), {});
  expect_average_of(result, "density", action / z, d.most);
  expect_average_of(result, "square", square / z, d.most);
  expect_average_of(result, "absolute", absolute / z, d.most);
}

using At = std::function<int(int, int)>;

double ising(const At& s) { return -0.4 * s(0, 0) * (s(1, 0) + s(0, 1)); }
double potts(const At& s) { return -0.8 * ((s(0, 0) == s(1, 0)) + (s(0, 0) == s(0, 1))); }
double blume(const At& s) {
  return -0.6 * s(0, 0) * (s(1, 0) + s(0, 1)) + 0.7 * s(0, 0) * s(0, 0) - 0.1 * s(0, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, AllStates,
    ::testing::Values(
        Discrete{
            "ising_heatbath", {4, 4}, {-1, 1}, "[-1, 1]", "-0.4*s*(s@x + s@y)", ising, "heatbath"},
        Discrete{"ising_metropolis",
                 {4, 4},
                 {-1, 1},
                 "[1, -1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "metropolis"},
        // on two sites along an axis both neighbours are one site
        Discrete{"ising_narrow",
                 {4, 2},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "metropolis, hits = 2"},
        Discrete{"ising_in_a_field",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.3*sum(s*s@k, k) - 0.2*s",
                 [](const At& s) { return 0.75 * ising(s) - 0.2 * s(0, 0); },
                 "heatbath"},
        // diagonal neighbours and four spins at once: the compiler finds four colours
        Discrete{"ising_frustrated",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k) + 0.15*s*(s@(1,1) + s@(1,-1)) - 0.1*s*s@x*s@y*s@(1,1)",
                 [](const At& s) {
                   return ising(s) + 0.15 * s(0, 0) * (s(1, 1) + s(1, -1)) -
                          0.1 * s(0, 0) * s(1, 0) * s(0, 1) * s(1, 1);
                 },
                 "heatbath",
                 4},
        Discrete{"potts_heatbath",
                 {4, 2},
                 {0, 1, 2},
                 "0..2",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "heatbath",
                 2,
                 0.04},
        Discrete{"potts_metropolis",
                 {4, 2},
                 {1, 2, 3, 4},
                 "1..4",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "metropolis",
                 2,
                 0.12},
        Discrete{"clock",
                 {4, 2},
                 {0, 1, 2, 3},
                 "0..3",
                 "-0.8*sum(cos(2*pi*(s@k - s)/4), k)",
                 [](const At& s) {
                   return -0.8 * (std::cos(std::numbers::pi * (s(1, 0) - s(0, 0)) / 2) +
                                  std::cos(std::numbers::pi * (s(0, 1) - s(0, 0)) / 2));
                 },
                 "heatbath",
                 2,
                 0.12},
        Discrete{"ising_reordered",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "heatbath, overrelax = 2"},
        Discrete{"potts_reordered",
                 {4, 2},
                 {1, 2, 3, 4},
                 "1..4",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "metropolis, overrelax = 2",
                 2,
                 0.12},
        Discrete{"clock_reordered",
                 {4, 2},
                 {0, 1, 2, 3, 4},
                 "0..4",
                 "-0.8*sum(cos(2*pi*(s@k - s)/5), k) - 0.3*cos(2*pi*s/5 + 0.4)",
                 [](const At& s) {
                   const double step = 2 * std::numbers::pi / 5;
                   return -0.8 * (std::cos(step * (s(1, 0) - s(0, 0))) +
                                  std::cos(step * (s(0, 1) - s(0, 0)))) -
                          0.3 * std::cos(step * s(0, 0) + 0.4);
                 },
                 "metropolis, overrelax = 2",
                 2,
                 0.12},
        Discrete{"blume_reordered",
                 {4, 2},
                 {-1, 0, 1},
                 "[-1, 0, 1]",
                 "-0.6*sum(s*s@k, k) + 0.7*s^2 - 0.1*s",
                 blume,
                 "heatbath, overrelax = 1"},
        Discrete{"blume_capel",
                 {4, 2},
                 {-1, 0, 1},
                 "[-1, 0, 1]",
                 "-0.6*sum(s*s@k, k) + 0.7*s^2 - 0.1*s",
                 blume,
                 "heatbath"},
        Discrete{"uneven_values",
                 {4, 2},
                 {-1, 0, 3},
                 "[3, -1, 0]",
                 "-0.06*sum(s*s@k, k) + 0.07*s^2 - 0.01*s",
                 [](const At& s) { return blume(s) / 10; },
                 "metropolis, hits = 2",
                 2,
                 0.06}),
    [](const auto& test) { return std::string(test.param.name); });

// With the sign changed across the edges along x; by sums over all states.
TEST(SiteUpdates, AntiperiodicSpinsAreDrawnWithTheirWeights) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  for (const int nx : {4, 2}) {
    SiteModel model{"field s: int, values = [-1, 1], boundary(x) = antiperiodic",
                    "-0.5*sum(s*s@k, k)",
                    std::to_string(nx) + "*4",
                    "heatbath",
                    "s ~ hot",
                    "along = mean(s*s@x), across = mean(s*s@y)",
                    20000};
    double z = 0, along = 0, across = 0;
    for (unsigned state = 0; state < (1u << (4 * nx)); ++state) {
      int x_bonds = 0, y_bonds = 0;
      const auto s = [&](int x, int y) {
        const int sign = x == nx ? -1 : 1;
        return sign * ((state >> ((y % 4) * nx + x % nx)) & 1u ? 1 : -1);
      };
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < nx; ++x) {
          x_bonds += s(x, y) * s(x + 1, y);
          y_bonds += s(x, y) * s(x, y + 1);
        }
      const double weight = std::exp(0.5 * (x_bonds + y_bonds));
      z += weight;
      along += weight * x_bonds / (4 * nx);
      across += weight * y_bonds / (4 * nx);
    }
    const auto result = testing::run_text(model.text(), {});
    if (nx == 4) expect_average_of(result, "along", along / z, 0.02);
    expect_average_of(result, "across", across / z, 0.02);
  }
}

// Couplings that are drawn once stay as they are: a glass on a ring, s(x) s(x+1) = tanh(J(x)) but
// for the ring's closing, which is below 1e-4 on average.
TEST(SiteUpdates, CouplingsThatAreDrawnOnceStay) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  SiteModel model{"field s: int, values = [-1, 1]",
                  "-J*s*s@x",
                  "64",
                  "heatbath",
                  "s ~ hot",
                  "bond = mean(s*s@x - tanh(J)), size = mean(tanh(J)^2), unlike = mean(J*J@x)",
                  8000};
  model.more = "J ~ normal(0, 0.6)\n";
  const auto result = testing::run_text(model.text(), {});
  expect_average_of(result, "bond", 0, 0.006);
  EXPECT_GT(testing::last(result, "size"), 0.1);
  EXPECT_EQ(result.find("size")->points.front().second, testing::last(result, "size"));
  EXPECT_NE(testing::last(result, "unlike"), testing::last(result, "size"));
}

}  // namespace
}  // namespace vphi
