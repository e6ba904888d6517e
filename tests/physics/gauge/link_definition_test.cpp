// Links that a definition makes of others, V[mu] = exp(A)*U[mu], against numbers of an independent
// program, against plain loops over matrices, and in operators that are solved.
#include <cmath>

#include "tests/physics/gauge/fixed_quarks.hpp"
#include "tests/physics/gauge/plain_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;
using testing::last;

constexpr const char* kPlaneLoops =
    "P[mu,nu] = loop(mu, nu, -mu, -nu)\n"
    "V[mu] = exp(-rho*d(S, U[mu]))*U[mu]\n"
    "W[mu] = exp(-rho*d(S, V[mu]))*V[mu]\n"
    "once = mean(re(tr(loop(V, mu, nu, -mu, -nu)))/n, mu < nu)\n"
    "twice = mean(re(tr(loop(W, mu, nu, -mu, -nu)))/n, mu < nu)\n"
    "long = mean(re(tr(loop(W, 2*x, y, -2*x, -y)))/n)\n"
    "written = mean(re(tr(W[x]*W[x]@x*W[y]@(2,0,0,0)*adj(W[x]@x@y)*W[-x]@(1,1,0,0)*W[-y]@y))/n)\n";

std::string smeared(const std::string& gauge, int n, const std::string& lattice,
                    const std::string& file, const std::string& more) {
  return "model smeared \"links of a definition\"\nparam rho = 0.1, n = " + std::to_string(n) +
         "\nlattice grid: " + lattice + "\ngauge U: " + gauge + "\n" + kPlaneLoops +
         "S = 2*sum(n - re(tr(P[mu,nu])), mu < nu)\n" + from_file(file) + "\n" + more;
}

/// The configuration of the numbers that a hash makes, SU(3) on 4 x 2 x 6 x 4.
Box fixed_box() {
  Box box = random_box(3, {4, 2, 6, 4}, 0, 1);
  for (std::int64_t s = 0; s < box.sites(); ++s) {
    for (int mu = 0; mu < 4; ++mu) {
      std::vector<double> w;
      for (int a = 0; a < 8; ++a)
        w.push_back(0.7 * testing::hashed(static_cast<std::uint32_t>(1 + a + 8 * (mu + 4 * s))));
      const testing::Dense t = testing::in_algebra(3, w);
      Matrix a(3);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) a.at(i, j) = Number(0, 1) * t(i, j);
      box.links[static_cast<std::size_t>(4 * s + mu)] = exponential(a);
    }
  }
  return box;
}

/// Plaquettes after one and two steps of stout smearing.
TEST(LinkDefinitions, StoutLinksOfAnotherProgram) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  fixed_box().save(scratch / "c4.ildg");
  for (const char* gauge : {"SU(3)", "SU(3), store = rows(2)"}) {
    const auto result = testing::run_text(
        smeared(gauge, 3, "4 * 2 * 6 * 4", scratch / "c4.ildg",
                "at end: plain = mean(re(tr(P[mu,nu]))/n, mu < nu), once, twice -> \"s.h5\"\n"),
        {});
    EXPECT_NEAR(last(result, "plain"), 0.642941889967134, 1e-12);
    EXPECT_NEAR(last(result, "once"), 0.9267733492980, 1e-12);
    EXPECT_NEAR(last(result, "twice"), 0.9829452086489, 1e-12);
  }
}

void step(Box& box, double rho) {
  const std::vector<Matrix> rates = box.rates(1, 0);
  for (std::size_t i = 0; i < rates.size(); ++i)
    box.links[i] = exponential(Number(rho) * rates[i]) * box.links[i];
}

TEST(LinkDefinitions, AreThePlainLoops) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  for (const int n : {1, 2}) {
    Box box = random_box(n, {3, 4, 2, 3}, 0.7, 5);
    box.save(scratch / "start.ildg");
    const auto result = testing::run_text(
        smeared(n == 1 ? "U(1)" : "SU(2)", n, "3 * 4 * 2 * 3", scratch / "start.ildg",
                "at end: once, twice, long, written -> \"s.h5\"\n"),
        {});
    const double rho = n == 1 ? 0.2 : 0.1;  // S of U(1) is twice the one of `rates`
    step(box, rho);
    EXPECT_NEAR(last(result, "once"), box.mean_loop(false), 1e-13);
    step(box, rho);
    EXPECT_NEAR(last(result, "twice"), box.mean_loop(false), 1e-13);
    EXPECT_NEAR(last(result, "written"), last(result, "long"), 1e-13);
  }
}

/// A name for the gradient has another value along each axis.
TEST(LinkDefinitions, NamesOfGradients) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  random_box(2, {3, 2, 2, 2}, 0.7, 5).save(scratch / "start.ildg");
  const auto result = testing::run_text(
      smeared(
          "SU(2)", 2, "3 * 2 * 2 * 2", scratch / "start.ildg",
          "G = d(S, U)\nX[mu] = exp(-rho*G)*U[mu]\n"
          "at end: once, named = mean(re(tr(loop(X, mu, nu, -mu, -nu)))/n, mu < nu) -> \"s.h5\"\n"),
      {});
  EXPECT_GT(last(result, "once"), 0.3);
  EXPECT_NEAR(last(result, "named"), last(result, "once"), 1e-13);
}

/// A propagator on smeared links is that of a configuration of these links.
TEST(LinkDefinitions, StandInOperators) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  Box box = random_box(2, {4, 2, 2, 4}, 0.8, 7);
  box.save(scratch / "start.ildg");
  step(box, 0.1);
  step(box, 0.1);
  box.save(scratch / "smeared.ildg");
  const auto total = [&](const std::string& links, const std::string& file) {
    return last(testing::run_text(
                    smeared("SU(2)", 2, "4 * 2 * 2 * 4", scratch / file,
                            "fermion psi: spinor, boundary(t) = antiperiodic\n"
                            "D(psi) = psi + 0.05i*gamma5*psi - 0.14*sum((1 - gamma[mu])*" +
                                links +
                                "[mu]*psi@mu, mu = directions(+,-))\n"
                                "here = index(x) + index(y) + index(z) + index(t) == 0\n"
                                "S0 = solve(D, here*spinor(0, 1), solver = cgne(1e-12))\n"
                                "at end: pion = total(norm2(S0)*(1 + index(t))) -> \"s.h5\"\n"),
                    {}),
                "pion");
  };
  const double known = total("U", "smeared.ildg");
  EXPECT_GT(known, 1);
  EXPECT_NEAR(total("W", "start.ildg"), known, 1e-10 * known);
  EXPECT_GT(std::abs(total("U", "start.ildg") - known), 1e-3);
}

}  // namespace
}  // namespace vphi
