// Outputs of links near 1: the digits of N - re(tr(P)) where a plain difference loses them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

// Links exp(i th y) along x: the plaquettes in the plane of x and y are th, and (n - 1) th where y
// ends; all others are 1. The momentum of one direction is read by its name.
TEST(WeakLinks, EnergyOfAnglesKeepsItsDigits) {
  const double th = 1e-10;
  const auto result = run_text(fmt::format(R"(model weak
lattice grid: 4^3, spacing = 1
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
H = total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
init U[i] = exp(1i*{}*index(y)*(i == x)), E[i] = 3 if i == y else 0
evolve leapfrog, dt = 1e-14, until = t > 0
sums = sum(1 - re(P[i,j]), i < j)
every 1 step: mean(sums), parts = mean(2*(6 - sum(re(P[i,j]), i != j))), mean(E[y]) -> "w.h5"
every 1 step: one = 1 - mean(re(P[i,j]), i < j), all = 3*volume - total(sum(re(P[i,j]), i < j)) -> "w.h5"
)",
                                           th),
                               {});
  const double expected = (3 + 9) / 4.0 * th * th / 2;
  EXPECT_NEAR(last(result, "mean(sums)") / expected, 1, 1e-9);
  EXPECT_NEAR(last(result, "parts") / (4 * expected), 1, 1e-9);
  EXPECT_NEAR(last(result, "one") / (expected / 3), 1, 1e-9);
  EXPECT_NEAR(last(result, "all") / (64 * expected), 1, 1e-9);
  EXPECT_EQ(last(result, "mean(E[y])"), 3);
}

// The same of matrices, with half of the trace in an output of its own: SU(2) links
// exp(i th y sigma_3) have plaquettes with re(tr) = 2 cos(th).
TEST(WeakLinks, EnergyOfMatricesKeepsItsDigits) {
  const auto result = run_text(R"(model weak
lattice grid: 4^3
gauge U: SU(3)
P[mu,nu] = loop(mu, nu, -mu, -nu)
S = 1e-12*sum(3 - re(tr(P[mu,nu])), mu < nu)
U' = -d(S, U)
init U ~ hot
evolve euler, dt = 1e-3, until = t > 0
gap = mean(sum(1 - re(tr(P[mu,nu]))/3, mu < nu))
far = mean(sum(re(tr(P[mu,nu]))/3, mu < nu))
every 1 step: gap, far -> "w.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "gap"), 3 - last(result, "far"), 1e-13);
}

// Angles that equations move may start anywhere in the group: the mean phase of a plaquette is 0.
TEST(WeakLinks, AnglesUnderAHamiltonianStartHot) {
  const auto result = run_text(R"(model hot
lattice grid: 8^3, spacing = 1
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
H = total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
init U ~ hot, E = 0
evolve leapfrog, dt = 1e-3, until = t > 0
every 1 step: mean(1 - re(P[i,j]), i < j) -> "w.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "mean(1 - re(P[i,j]), i < j)"), 1, 0.1);
}

}  // namespace
}  // namespace vphi
