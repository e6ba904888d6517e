// Links of Z(N) against sums over all configurations, against the dual Ising model, and what stays
// one of the roots.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr double kHalfTurn = std::numbers::pi;

bool has_native() { return testing::device("native") != nullptr; }

const runtime::ChainSeries* chain_of(const runtime::RunResult& result, const std::string& name) {
  for (const auto& series : result.chain)
    if (series.name == name) return &series;
  ADD_FAILURE() << "no series " << name;
  return nullptr;
}

std::string roots_model(const std::string& group, const std::string& lattice,
                        const std::string& sample, const std::string& measured) {
  return "model roots \"links\"\nparam beta = 0.6\nsweep chain = 1..8\nlattice grid: " + lattice +
         "\ngauge U: " + group +
         "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\naction S = beta*sum(1 - re(P[mu,nu]), mu < nu)\n"
         "sample " +
         sample + "\ninit U ~ hot\nevery 1 sweep, after = sweep > 20: " + measured +
         " -> \"c.csv\"\n";
}

// On 2 x 2 the plaquettes at x and at x + 1 share both links along y.
TEST(Roots, AllConfigurationsOfASmallBox) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  double above = 0, below = 0;
  for (int state = 0; state < 6561; ++state) {
    int links[2][2][2], rest = state;  // [axis][y][x]
    for (auto& axis : links)
      for (auto& row : axis)
        for (int& link : row) link = rest % 3, rest /= 3;
    double sum = 0;
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x) {
        const int turn = links[0][y][x] + links[1][y][1 - x] - links[0][1 - y][x] - links[1][y][x];
        sum += std::cos(2 * kHalfTurn * turn / 3);
      }
    const double w = std::exp(0.6 * (sum - 4));
    above += w * sum / 4, below += w;
  }
  for (const char* sample : {"heatbath, sweeps = 2000", "metropolis, sweeps = 2000, hits = 1"}) {
    const auto result = testing::run_text(
        roots_model("Z(3)", "2^2", sample, "p = mean(re(P[mu,nu]), mu < nu)"), {});
    const auto* p = chain_of(result, "p");
    ASSERT_TRUE(p);
    EXPECT_NEAR(p->average.mean, above / below, 4 * p->average.error) << sample;
    EXPECT_LT(p->average.error, 0.01);
    EXPECT_GT(p->average.error, 0);
  }
}

TEST(Roots, TheDualIsingModel) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  constexpr double kBeta = 0.6;
  const auto gauge = testing::run_text(
      roots_model("Z(2)", "6^3", "heatbath, sweeps = 600", "p = mean(re(P[mu,nu]), mu < nu)"), {});
  const auto spins = testing::run_text(R"(model dual "Ising spins"
param K = -log(tanh(0.6))/2
sweep chain = 1..8
lattice grid: 6^3
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 600
init s = 1
every 1 sweep, after = sweep > 20: b = mean(sum(s*s@k, k))/3 -> "c.csv"
)",
                                       {});
  const auto *p = chain_of(gauge, "p"), *b = chain_of(spins, "b");
  ASSERT_TRUE(p && b);
  const double slope = 1 / std::sinh(2 * kBeta);
  const double dual = 1 / std::tanh(2 * kBeta) - slope * b->average.mean;
  const double error = std::hypot(p->average.error, slope * b->average.error);
  EXPECT_LT(error, 0.003);
  EXPECT_NEAR(p->average.mean, dual, 4 * error);
  EXPECT_GT(std::fabs(p->average.mean - std::tanh(kBeta)), 10 * error);  // strong coupling alone
}

/// sum cos(w) exp(beta cos(w))/sum exp(beta cos(w)) over the roots.
double one_plaquette(int roots, double beta) {
  double above = 0, below = 0;
  for (int n = 0; n < roots; ++n) {
    const double cosine = std::cos(2 * kHalfTurn * n / roots);
    above += cosine * std::exp(beta * cosine), below += std::exp(beta * cosine);
  }
  return above / below;
}

// Plaquettes of two dimensions are independent, up to loops around the box. Where their couplings
// differ the staples have a phase between those at which roots are mirrored.
TEST(Roots, MirrorImagesKeepTheWeight) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  for (const int roots : {3, 4, 5}) {
    const auto result = testing::run_text(
        "model roots \"links\"\nsweep chain = 1..8\nlattice grid: 8^2\ngauge U: Z(" +
            std::to_string(roots) + R"()
P = loop(x, y, -x, -y)
strong = mod(index(x), 2)
action S = (0.6 + 0.8*strong)*(1 - re(P))
sample metropolis, sweeps = 800, hits = 1, overrelax = 4
init U ~ hot
every 1 sweep, after = sweep > 20: weak = 2*mean(re(P)*(1 - strong)), tied = 2*mean(re(P)*strong) -> "c.csv"
)",
        {});
    for (const auto& [name, beta] : {std::pair("weak", 0.6), std::pair("tied", 1.4)}) {
      const auto* p = chain_of(result, name);
      ASSERT_TRUE(p);
      EXPECT_NEAR(p->average.mean, one_plaquette(roots, beta), 4 * p->average.error)
          << name << " of Z(" << roots << ")";
      EXPECT_LT(p->average.error, 0.004);
    }
  }
}

// Without Metropolis: a mirror image that is the same in S is always taken, and most links move.
TEST(Roots, AMirrorMovesLinksAndKeepsTheActionInTwoDimensions) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model mirror "links at their mirrors"
lattice grid: 8^2
gauge U: Z(6)
P = loop(x, y, -x, -y)
action S = 1.3*(1 - re(P))
sample overrelax, sweeps = 5
init U ~ hot
precision real = f64
every 1 sweep: total(1 - re(P)), turn = mean(re(U[x])) -> "c.csv"
)",
                                        {});
  const auto *s = result.find("total(1 - re(P))"), *turn = result.find("turn");
  ASSERT_TRUE(s && turn);
  ASSERT_GE(s->points.size(), 5u);
  EXPECT_NEAR(s->points.back().second, s->points.front().second, 1e-10);
  EXPECT_GT(std::fabs(turn->points.back().second - turn->points.front().second), 1e-4);
}

// u^N = 1 after many sweeps, in both precisions.
TEST(Roots, LinksStayRoots) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  for (const auto& [precision, sample, most] :
       {std::tuple("f64", "metropolis, sweeps = 60, hits = 1", 1e-13),
        std::tuple("f32", "heatbath, sweeps = 60, overrelax = 2", 1e-5)}) {
    const std::string text =
        roots_model("Z(5)", "8^2", sample,
                    "off = max(abs(U[x]*U[x]*U[x]*U[x]*U[x] - 1)), turn = mean(im(U[y]))") +
        "precision real = " + precision + "\n";
    const auto result = testing::run_text(text, {});
    bool seen = false;
    for (const auto& series : result.series) {
      if (series.name != "off") continue;
      for (const auto& row : series.values)
        for (const double off : row) EXPECT_LT(off, most) << precision;
      seen = series.values.size() > 10;
    }
    EXPECT_TRUE(seen);
  }
}

}  // namespace
}  // namespace vphi
