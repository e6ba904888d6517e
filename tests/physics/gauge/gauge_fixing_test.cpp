// Links that are turned to a gauge, against what is known exactly, against plain loops over
// matrices that follow the gradient, and in what must not depend on the gauge.
#include <cmath>
#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/physics/gauge/fixed_links.hpp"
#include "tests/support/cut_ranks.hpp"

namespace vphi {
namespace {

using namespace testing::flow;
using testing::last;

struct Case {
  const char* gauge;
  int n;
  std::vector<std::int64_t> extent;
  const char* lattice;
};

std::string turned(const Case& one, const std::string& fixing, const std::string& file,
                   const std::string& outputs) {
  return "model turned \"links in a gauge\"\nparam n = " + std::to_string(one.n) +
         "\nlattice grid: " + one.lattice + "\ngauge U: " + one.gauge + "\n" + fixing + "\n" +
         "F = mean(re(tr(V[mu]))/n, mu)\n" + from_file(file) + "\nat end: " + outputs +
         " -> \"g.csv\"\n";
}

void turn_all(Box& box, const std::vector<Matrix>& g) {
  const Box before = box;
  for (std::int64_t s = 0; s < box.sites(); ++s)
    for (int mu = 0; mu < box.dims; ++mu) {
      const auto there =
          box.place(box.moved(box.site(s), mu, 1), 0) / static_cast<std::size_t>(box.dims);
      box.links[box.place(box.site(s), mu)] =
          g[static_cast<std::size_t>(s)] * before.link(box.site(s), mu) * adjoint(g[there]);
    }
}

void turn_at_random(Box& box, double width, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Matrix> g;
  for (std::int64_t s = 0; s < box.sites(); ++s) g.push_back(random_element(box.n, width, random));
  turn_all(box, g);
}

/// The sum of Re tr over the first `axes` directions, as large as steps along its gradient make it:
/// g = exp(-step TA(W)) at all sites at once. Returns the mean of Re tr/n over all links.
double climbed(Box box, int axes, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<Matrix> g;
    for (std::int64_t s = 0; s < box.sites(); ++s) {
      Matrix w(box.n);
      for (int mu = 0; mu < axes; ++mu)
        w = w + box.link(box.site(s), mu) + adjoint(box.link(box.moved(box.site(s), mu, -1), mu));
      g.push_back(exponential(-0.9 / (2.0 * axes) * in_algebra(w)));
    }
    turn_all(box, g);
  }
  double sum = 0;
  for (const Matrix& link : box.links) sum += link.trace().real() / box.n;
  return sum / static_cast<double>(box.links.size());
}

const Case kCases[] = {{"U(1)", 1, {4, 6, 2}, "4 * 6 * 2"},
                       {"SU(2)", 2, {4, 2, 4}, "4 * 2 * 4"},
                       {"SU(3)", 3, {4, 4}, "4^2"},
                       {"SU(3), store = rows(2)", 3, {4, 2, 2}, "4 * 2^2"}};

/// Links that are 1 but for the gauge are 1 again.
TEST(GaugeFixing, UnitLinksInAnyGauge) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const Case& one : kCases) {
    const testing::ScratchFolder scratch;
    Box box = random_box(one.n, one.extent, 0, 1);
    turn_at_random(box, 0.8, 4711);
    box.save(scratch / "g.ildg");
    const std::string text =
        turned(one, "V[mu] = gauge_fixed(U[mu], sum(U[nu], nu), theta = 1e-24)", scratch / "g.ildg",
               "F, before = mean(re(tr(U[mu]))/n, mu)");
    for (const char* device : {"native", "opencl"}) {
      if (!testing::device(device)) continue;
      if (one.n > 1 && device == std::string("opencl")) continue;  // compiles long; the oracle
      testing::Simulation setup;
      setup.device = device;
      const auto result = testing::run_text(text, setup);
      EXPECT_LT(last(result, "before"), 0.9) << one.gauge;
      EXPECT_NEAR(last(result, "F"), 1, 1e-12) << one.gauge << ", " << device;
    }
  }
}

/// On a ring of N sites all links become equal: the N-th root of the product around it.
TEST(GaugeFixing, RingsOfEqualLinks) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const Case& one : {Case{"U(1)", 1, {8}, "8"}, Case{"SU(2)", 2, {8}, "8"}}) {
    const testing::ScratchFolder scratch;
    Box box = random_box(one.n, one.extent, 0.4, 77);
    const Matrix around = box.along(box.site(0), std::vector<int>(8, 1));
    const double angle =
        one.n == 1 ? std::arg(around.trace()) : std::acos(around.trace().real() / 2);
    turn_at_random(box, 0.5, 31);
    box.save(scratch / "r.ildg");
    const auto result = testing::run_text(turned(one, "V = landau(U, 1e-24)", scratch / "r.ildg",
                                                 "F, apart = mean(norm2(V[x] - V[x]@x))"),
                                          {});
    EXPECT_GT(std::fabs(angle), 0.1);
    EXPECT_NEAR(last(result, "F"), std::cos(angle / 8), 1e-12) << one.gauge;
    EXPECT_LT(last(result, "apart"), 1e-22) << one.gauge;
  }
}

/// Weak links have one gauge: another way up to it, and another gauge to begin with.
TEST(GaugeFixing, TheMaximumOfPlainLoops) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const Case& one : kCases) {
    const int dims = static_cast<int>(one.extent.size());
    Box box = random_box(one.n, one.extent, 0.15, 23);
    const double known = climbed(box, dims, 2000);
    Box other = box;
    turn_at_random(other, 0.3, 5);
    for (const Box* from : {&box, &other}) {
      const testing::ScratchFolder scratch;
      from->save(scratch / "w.ildg");
      const auto result = testing::run_text(turned(one, "V = landau(U, 1e-24)", scratch / "w.ildg",
                                                   "F, rounds = iterations(V), left = residual(V)"),
                                            {});
      EXPECT_NEAR(last(result, "F"), known, 1e-11) << one.gauge;
      EXPECT_LE(last(result, "left"), 1e-24);
      EXPECT_GT(last(result, "rounds"), 0);
    }
  }
}

/// Coulomb's gauge: planes of links in space, each a lattice of its own.
TEST(GaugeFixing, CoulombsGaugeIsThatOfEachPlane) {
  if (!native()) GTEST_SKIP() << "no native device";
  const Case one{"SU(2)", 2, {4, 4, 2}, "4^2 * 2"};
  Box box = random_box(2, one.extent, 0.15, 29);
  double known = 0;
  for (const std::int64_t z : {0, 1}) {
    Box plane = random_box(2, {4, 4}, 0, 1);
    for (std::int64_t s = 0; s < plane.sites(); ++s)
      for (int mu = 0; mu < 2; ++mu) {
        Box::Site at = plane.site(s);
        at[2] = z;
        plane.links[plane.place(plane.site(s), mu)] = box.link(at, mu);
      }
    known += climbed(plane, 2, 2000) / 2;
  }
  const testing::ScratchFolder scratch;
  turn_at_random(box, 0.2, 5);
  box.save(scratch / "c.ildg");
  const auto result =
      testing::run_text(turned(one, "V = coulomb(U, 1e-24, z)", scratch / "c.ildg",
                               "F, space = mean((re(tr(V[x])) + re(tr(V[y])))/(2*n))"),
                        {});
  EXPECT_NEAR(last(result, "space"), known, 1e-11);
}

/// theta by its definition, loops that do not depend on the gauge, and links of the group.
TEST(GaugeFixing, WhatStaysAsItIs) {
  if (!native()) GTEST_SKIP() << "no native device";
  const std::string matrices =
      "D[mu] = (V[mu] - adj(V[mu]))/2\n"
      "E = sum(D[mu] - D[mu]@-mu, mu)\n"
      "theta = mean(re(tr(E*adj(E))) - norm2(tr(E))/n)/n\n";
  const std::string phases = "E = sum(im(V[mu]) - im(V[mu]@-mu), mu)\ntheta = mean(E^2)\n";
  for (const Case& one : kCases) {
    const testing::ScratchFolder scratch;
    random_box(one.n, one.extent, 0.5, 19).save(scratch / "s.ildg");
    const std::string trace = one.n > 1 ? "tr" : "";
    const std::string bent = trace + "(loop(x, y, y, -x, -y, -y))";
    const std::string turned_bent = trace + "(loop(V, x, y, y, -x, -y, -y))";
    const std::string path = trace + "(path(4*x))", turned_path = trace + "(path(V, 4*x))";
    const std::string square = one.n > 1 ? "tr(V[x]*adj(V[x]))" : "V[x]*conj(V[x])";
    const auto result = testing::run_text(
        turned(one,
               "V = landau(U, 1e-14)\n" + (one.n > 1 ? matrices : phases) + "bent = mean(re(" +
                   bent + ") - re(" + turned_bent + "))\naround = max(abs(" + path + " - " +
                   turned_path + "))\nunitary = max(abs(" + square + " - n))",
               scratch / "s.ildg",
               "theta, left = residual(V), bent, around, unitary, plain = max(abs(" + path + "))"),
        {});
    EXPECT_LE(last(result, "left"), 1e-14) << one.gauge;
    EXPECT_NEAR(last(result, "theta"), last(result, "left"), 1e-3 * last(result, "left"))
        << one.gauge;
    EXPECT_NEAR(last(result, "bent"), 0, 1e-12) << one.gauge;
    EXPECT_NEAR(last(result, "around"), 0, 1e-12) << one.gauge;
    EXPECT_NEAR(last(result, "unitary"), 0, 1e-12) << one.gauge;
    EXPECT_GT(last(result, "plain"), 0.1) << one.gauge;
  }
}

std::string chain(const std::string& more, const std::string& options = "") {
  return "model chained \"a chain with a measurement\"\nparam beta = 1.5\nlattice grid: 4^2\n"
         "gauge U: U(1)" +
         options +
         "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\naction S = beta*sum(1 - re(P[mu,nu]), mu < nu)\n"
         "sample heatbath, sweeps = 12, overrelax = 1\ninit U ~ hot\n" +
         more;
}

/// The chain does not notice that a copy of its links is turned.
TEST(GaugeFixing, LeavesTheChainAlone) {
  if (!native()) GTEST_SKIP() << "no native device";
  const std::string out = "every 1 sweep: plaquette = mean(re(P[x,y]))";
  const auto with = testing::run_text(
      chain("V = landau(U, 1e-14)\n" + out + ", mean(re(V[x])) -> \"c.csv\"\n"), {});
  const auto without = testing::run_text(chain(out + " -> \"c.csv\"\n"), {});
  ASSERT_EQ(without.series.size(), 1U);
  int same = 0;
  for (const auto& series : with.series)
    same += series.name == without.series[0].name && series.values == without.series[0].values;
  EXPECT_EQ(same, 1);
  EXPECT_EQ(last(with, "plaquette"), last(without, "plaquette"));
}

/// Quarks that take phases at the edges: their pion is that of the links before they were turned.
TEST(GaugeFixing, QuarksWithTwistsAreTheSame) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto pion = [](const std::string& links, const std::string& theta) {
    return last(
        testing::run_text("model twisted\nparam kappa = 0.2\nlattice grid: 4^2\ngauge U: SU(2)\n"
                          "fermion psi: spinor(2), boundary(x) = twisted(" +
                              theta +
                              "), boundary(y) = antiperiodic\nV = landau(U, 1e-14)\n"
                              "D(psi) = psi - kappa*sum((1 - gamma[mu])*" +
                              links +
                              "[mu]*psi@mu, mu = directions(+,-))\n"
                              "S[s,c] = solve(D, (index(x) + index(y) == 0)*spinor(s, c), solver = "
                              "cgne(1e-13))\ninit U ~ hot\n"
                              "at end: pion = total(sum(norm2(S[s,c]), s, c)) -> \"c.csv\"\n",
                          {}),
        "pion");
  };
  const double wanted = pion("U", "0.7");
  EXPECT_NEAR(pion("V", "0.7"), wanted, 1e-10 * wanted);
  EXPECT_GT(std::abs(pion("V", "0") - wanted), 1e-3 * wanted);
}

/// In f32 the gauge is found in f64, where the bound can be met.
TEST(GaugeFixing, SinglePrecisionMeetsTheBound) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(
      chain("V = landau(U, 1e-20)\nprecision real = f32\nat end: left = residual(V), F = "
            "mean(re(V[mu]), mu) -> \"c.csv\"\n"),
      {});
  EXPECT_LE(last(result, "left"), 1e-20);
  EXPECT_GT(last(result, "F"), 0.5);
}

/// Ends of a box have no links beyond them.
TEST(GaugeFixing, LinksThatEndAtTheBox) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(
      chain(
          "V = landau(U, 1e-20)\nD = sum(im(V[mu]) - im(V[mu]@-mu), mu)\n"
          "at end: theta = mean(D^2), left = residual(V), same = mean(re(loop(V, x, y, -x, -y)) - "
          "re(P[x,y])) -> \"c.csv\"\n",
          ", boundary(y) = open"),
      {});
  EXPECT_LE(last(result, "theta"), 1.01e-20);
  EXPECT_NEAR(last(result, "same"), 0, 1e-12);
}

/// Ranks that share the lattice find the same gauge, to the last bit.
TEST(GaugeFixing, HasTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "turned.vphi").string();
  std::string text = chain(
      "V = landau(U, 1e-14)\nW = coulomb(U, 1e-14, y)\n"
      "every 6 sweeps: mean(re(V[x])), W2 = mean(re(W[y])), rounds = iterations(V), left = "
      "residual(W) -> \"c.h5\"\n");
  text.replace(text.find("4^2"), 3, "4 * 12");
  std::ofstream(path) << text;
  for (const int ranks : {2, 3}) {
    const auto result = testing::cut_and_compare(path, ranks, {});
    EXPECT_EQ(result.refused, "");
    EXPECT_EQ(result.differs, "");
  }
}

/// Instances are done one by one, and each meets the bound.
TEST(GaugeFixing, EachInstanceMeetsTheBound) {
  if (!native()) GTEST_SKIP() << "no native device";
  const std::string measured =
      "V = landau(U, 1e-14)\nat end: F = mean(re(V[mu]), mu), left = residual(V), rounds = "
      "iterations(V) -> \"c.csv\"\n";
  std::string text = chain(measured);
  text.insert(text.find("lattice"), "sweep chain = 1..5\n");
  const auto result = testing::run_text(text, {});
  std::set<double> rounds;
  for (const auto& series : result.series) {
    ASSERT_EQ(series.values.back().size(), 5U) << series.name;
    for (const double value : series.values.back()) {
      EXPECT_TRUE(series.name != "left" || value <= 1e-14) << value;
      if (series.name == "rounds") rounds.insert(value);
    }
  }
  EXPECT_GT(rounds.size(), 1U);
}

/// A bound that is not met within `max` sweeps ends the run, with both numbers.
TEST(GaugeFixing, TooFewSweepsAreSaid) {
  if (!native()) GTEST_SKIP() << "no native device";
  try {
    testing::run_text(chain("V[mu] = gauge_fixed(U[mu], sum(U[nu], nu), max = 4)\n"
                            "at end: mean(re(V[x])) -> \"c.csv\"\n"),
                      {});
    FAIL() << "it was solved";
  } catch (const std::exception& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("is not solved after 4 iterations of `gauge_fixed`"), std::string::npos)
        << said;
    EXPECT_NE(said.find("theta is "), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace vphi
