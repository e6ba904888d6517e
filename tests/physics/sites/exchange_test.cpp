// Chains that exchange configurations along a sweep, against sums over all states, Bessel functions
// and integrals; what does not move with a configuration; random numbers of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

bool native_is_there() { return testing::device("native") != nullptr; }

const runtime::ChainSeries* chain_of(const runtime::RunResult& result, const std::string& name) {
  for (const auto& series : result.chain)
    if (series.name == name) return &series;
  ADD_FAILURE() << "no series " << name;
  return nullptr;
}

/// Within four standard errors, which are below `most`.
void expect_average(const runtime::RunResult& result, const std::string& name, double exact,
                    double most) {
  const auto* series = chain_of(result, name);
  if (!series) return;
  EXPECT_NEAR(series->average.mean, exact, 4 * series->average.error) << name;
  EXPECT_GT(series->average.error, 0) << name;
  EXPECT_LT(series->average.error, most) << name;
}

const std::vector<double>& last_row(const runtime::RunResult& result, const std::string& name) {
  static const std::vector<double> kNone;
  for (const auto& series : result.series)
    if (series.name == name && !series.values.empty()) return series.values.back();
  ADD_FAILURE() << "no series " << name;
  return kNone;
}

/// Averages of 4 x 4 Ising spins with exp(K sum of neighbouring products + h sum of spins).
struct SpinAverages {
  double energy = 0, m = 0, m2 = 0;
};
SpinAverages spins(double coupling, double field) {
  SpinAverages sum;
  double z = 0;
  for (unsigned state = 0; state < 1U << 16; ++state) {
    const auto spin = [&](int x, int y) {
      return (state >> (4 * (y & 3) + (x & 3)) & 1U) != 0 ? 1 : -1;
    };
    int bonds = 0, total = 0;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) {
        bonds += spin(x, y) * (spin(x + 1, y) + spin(x, y + 1));
        total += spin(x, y);
      }
    const double w = std::exp(coupling * (bonds - 32) + field * total);
    const double m = total / 16.0;
    z += w, sum.energy -= w * bonds / 16, sum.m += w * m, sum.m2 += w * m * m;
  }
  return {sum.energy / z, sum.m / z, sum.m2 / z};
}

TEST(Exchange, IsingSpinsAtFourTemperatures) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "Ising spins"
sweep K = [0.2, 0.3, 0.4, 0.5]
sweep chain = 1..4
lattice torus: 4^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 3000, exchange = K
init s ~ hot
m2 = mean(s)^2
energy = -mean(sum(s*s@k, k))
every 1 sweep, after = sweep > 50: energy, m2, exchanged, replica -> "e.csv"
)",
                                        {});
  for (const double k : {0.2, 0.3, 0.4, 0.5}) {
    const SpinAverages exact = spins(k, 0);
    const std::string at = " at K = " + std::string(k == 0.2   ? "0.2"
                                                    : k == 0.3 ? "0.3"
                                                    : k == 0.4 ? "0.4"
                                                               : "0.5");
    expect_average(result, "energy" + at, exact.energy, 0.02);
    expect_average(result, "m2" + at, exact.m2, 0.015);
  }
  // [K][chain]
  const std::vector<double>& share = last_row(result, "exchanged");
  ASSERT_EQ(share.size(), 16U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_GT(share[i], 0.3);
    EXPECT_LT(share[i], 1);
  }
  for (std::size_t i = 12; i < 16; ++i) EXPECT_EQ(share[i], 0);
  // each replica is somewhere, in every chain
  const std::vector<double>& replica = last_row(result, "replica");
  bool moved = false;
  for (std::size_t chain = 0; chain < 4; ++chain) {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double r = replica[4 * k + chain];
      sum += r, squares += r * r;
      moved = moved || r != static_cast<double>(k);
    }
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(squares, 14);
  }
  EXPECT_TRUE(moved);
  bool said = false;
  for (const std::string& note : result.notes)
    said = said || note.find("exchanges along K") != std::string::npos;
  EXPECT_TRUE(said);
}

// The name may stand anywhere in the action: here as h^3, where spins would be exchanged wrongly
// if S were taken as linear in h. The first axis is another one.
TEST(Exchange, ActionsThatAreNotLinearInTheName) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "Ising spins in a field"
sweep K = [0.1, 0.3]
sweep h = [-0.5, 0.3, 0.6]
lattice torus: 4^2
field s: int, values = [-1, 1]
action S_bonds = -K*sum(s*s@k, k)
action S_field = -h^3*s
sample metropolis, sweeps = 5000, exchange = h, exchange_every = 2
init s ~ hot
m = mean(s)
every 1 sweep, after = sweep > 50: m -> "e.csv"
)",
                                        {});
  for (const auto& [k, k_text] : {std::pair(0.1, "0.1"), std::pair(0.3, "0.3")})
    for (const auto& [h, h_text] :
         {std::pair(-0.5, "-0.5"), std::pair(0.3, "0.3"), std::pair(0.6, "0.6")})
      expect_average(result, std::string("m at K = ") + k_text + ", h = " + h_text,
                     spins(k, h * h * h).m, 0.02);
}

// Spins that are all up at K = 0.9 stay up for thousands of sweeps; from K = 0.3 come others.
TEST(Exchange, WellsThatAChainDoesNotLeave) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const std::string text = R"(model exchange "Ising spins that start up"
sweep K = linspace(0.3, 0.9, 7)
lattice torus: 4^2
field s: int, values = [-1, 1]
m = mean(s)
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 1500OPTION
init s = 1
every 1 sweep: m -> "e.csv"
)";
  const auto with = [&](const std::string& option) {
    std::string own = text;
    return testing::run_text(own.replace(own.find("OPTION"), 6, option), {});
  };
  const auto alone = with(""), together = with(", exchange = K");
  EXPECT_GT(chain_of(alone, "m at K = 0.9")->average.mean, 0.9);
  EXPECT_LT(std::fabs(chain_of(together, "m at K = 0.9")->average.mean), 0.5);
}

// Equal actions always exchange. Their chains would be equal if they drew the same numbers.
TEST(Exchange, InstancesDrawNumbersOfTheirOwn) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "Equal spins"
sweep K = [0.3, 0.3, 0.3]
lattice torus: 8^2
field s: int, values = [-1, 1]
J ~ normal
action S = -K*sum(s*s@k, k) - J*s/10
sample heatbath, sweeps = 40, exchange = K
init s ~ hot
every 1 sweep: m = mean(s), disorder = mean(J), exchanged -> "e.csv"
)",
                                        {});
  const auto& m = last_row(result, "m");
  EXPECT_NE(m[0], m[1]);
  EXPECT_NE(m[1], m[2]);
  const auto& share = last_row(result, "exchanged");
  EXPECT_EQ(share[0], 1);
  EXPECT_EQ(share[1], 1);
  // what is drawn once, and is part of the action, is the same for all values
  const auto& disorder = last_row(result, "disorder");
  EXPECT_EQ(disorder[0], disorder[1]);
  EXPECT_EQ(disorder[1], disorder[2]);
}

// The same decisions about the same configurations: spins are whole numbers, so that rows are
// equal.
TEST(Exchange, OpenClExchangesAsNativeDoes) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  std::map<std::string, std::vector<double>> rows;
  for (const char* device : {"native", "opencl"}) {
    testing::Simulation setup;
    setup.device = device;
    setup.precision = "f64";
    const auto result = testing::run_text(R"(model exchange "Ising spins"
sweep K = linspace(0.3, 0.6, 5)
lattice torus: 8^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 60, exchange = K
init s ~ hot
every 1 sweep: energy = -total(sum(s*s@k, k)), replica, exchanged -> "e.csv"
)",
                                          setup);
    for (const char* name : {"energy", "replica", "exchanged"}) {
      const auto& row = last_row(result, name);
      ASSERT_EQ(row.size(), 5u) << name;
      const auto place = rows.try_emplace(name, row).first;
      EXPECT_EQ(place->second, row) << name;
    }
  }
  EXPECT_NE(rows["replica"], (std::vector<double>{0, 1, 2, 3, 4})) << "nothing has moved";
}

// <cos> of a plaquette on a torus of V: sum I_n^(V-1) I_n'/sum I_n^V.
TEST(Exchange, LinksAreExchanged) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "U(1) in two dimensions"
sweep beta = [1, 1.5]
sweep chain = 1..4
lattice torus: 4^2
gauge U: U(1)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(P[mu,nu]), mu < nu)
action S = beta*sum(1 - re(P[mu,nu]), mu < nu)
sample heatbath, sweeps = 2000, exchange = beta
init U ~ hot
every 1 sweep, after = sweep > 50: plaquette, exchanged -> "e.csv"
)",
                                        {});
  for (const auto& [beta, text] : {std::pair(1.0, "1"), std::pair(1.5, "1.5")}) {
    double above = 0, below = 0;
    for (int n = -8; n <= 8; ++n) {
      const auto bessel = [&](int k) { return std::cyl_bessel_i(std::abs(k), beta); };
      const double slope = (bessel(n - 1) + bessel(n + 1)) / 2;
      above += std::pow(bessel(n), 15) * slope;
      below += std::pow(bessel(n), 16);
    }
    expect_average(result, std::string("plaquette at beta = ") + text, above / below, 0.01);
  }
  EXPECT_GT(last_row(result, "exchanged")[0], 0.3);
}

// One number with exp(-K (phi^2 - 1)^2) at each of two sites, moved by trajectories.
TEST(Exchange, TrajectoriesAreExchanged) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "Numbers in two wells"
sweep K = [0.5, 1, 2]
lattice ring: 8
field phi: real
action S = K*(phi^2 - 1)^2
sample hmc, trajectories = 1500, tau = 1, exchange = K {
  level S: steps = 8, scheme = omelyan2
}
init phi = 1
square = mean(phi^2)
every 1 trajectory, after = trajectory > 20: square, exchanged -> "e.csv"
)",
                                        {});
  for (const auto& [k, text] : {std::pair(0.5, "0.5"), std::pair(1.0, "1"), std::pair(2.0, "2")}) {
    double above = 0, below = 0;
    for (int i = -4000; i <= 4000; ++i) {
      const double x = i * 1e-3, w = std::exp(-k * (x * x - 1) * (x * x - 1));
      above += w * x * x, below += w;
    }
    expect_average(result, std::string("square at K = ") + text, above / below, 0.02);
  }
  EXPECT_GT(last_row(result, "exchanged")[0], 0.1);
}

// A sweep of one value has no neighbours: the outputs say that nothing moved.
TEST(Exchange, OneValueHasNothingToExchangeWith) {
  if (!native_is_there()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model exchange "Ising spins"
sweep K = [0.3]
lattice torus: 4^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 20, exchange = K
init s ~ hot
every 10 sweeps: exchanged, replica -> "e.csv"
)",
                                        {});
  EXPECT_EQ(testing::last(result, "exchanged"), 0);
  EXPECT_EQ(testing::last(result, "replica"), 0);
}

}  // namespace
}  // namespace vphi
