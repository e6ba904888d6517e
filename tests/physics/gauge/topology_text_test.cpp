// Chern-Simons number and winding as formulas of a model (docs/observables.md), against what they
// are in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

/// Integral over a run of the rate E.B of links A_i^a = A(t) delta_i^a, over that in the continuum,
/// -volume*g^3*(A^3 - A0^3)/(8 pi^2): links exp(1i*g*dx*A) have D = d + 1i*g*A.
double chern_simons_ratio(double dx) {
  const double g = 1.5, volume = std::pow(4 * dx, 3), cubic = -g * g * g / 8;
  const auto result = run_text(
      "model mode \"Homogeneous links of SU(2)\"\nlattice box: 4^3, spacing = " + exact(dx) +
          "\nparam g = " + exact(g) + R"(
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
H = total((g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4))
C[i,j] = P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i)
F[i,j] = (C[i,j] - adj(C[i,j]))/8
e[i] = (E[i] + (adj(U[i])*E[i]*U[i])@-i)/2
rate = (g*dx)^2/(4*pi^2)*total(im(tr(e[x]*F[y,z] + e[y]*F[z,x] + e[z]*F[x,y])))
c = cos(g*dx/2)
s = sin(g*dx/2)
init U[k] = [[c + 1i*s*(k == 2), 1i*s*(k == 0) + s*(k == 1)], [1i*s*(k == 0) - s*(k == 1), c - 1i*s*(k == 2)]]
init E = 0
X = [[0, 1], [1, 0]]
amplitude = mean(2*asin(im(tr(X*U[x]))/2))/(g*dx)
precision real = f64
evolve yoshida4, dt = 0.005, until = t > 0.4975
every 1 step: rate, amplitude -> "m.h5"
)",
      {});
  const auto& rates = result.find("rate")->points;
  double integral = 0;
  for (std::size_t i = 1; i < rates.size(); ++i)
    integral += (rates[i].second + rates[i - 1].second) / 2 * (rates[i].first - rates[i - 1].first);
  const auto& a = result.find("amplitude")->points;
  const double change = std::pow(a.back().second, 3) - std::pow(a.front().second, 3);
  return integral * std::numbers::pi * std::numbers::pi / (volume * cubic * change);
}

TEST(TopologyText, EBIsTheRateOfTheChernSimonsNumber) {
  const double coarse = chern_simons_ratio(0.2), fine = chern_simons_ratio(0.1);
  EXPECT_NEAR(fine, 1, 0.01);
  EXPECT_NEAR((4 * fine - coarse) / 3, 1, 1e-4);  // without the error of order dx^2
}

/// A doublet whose direction covers the sphere S^3 `times` times.
double winding(int sites, const char* times) {
  return last(run_text("model wound \"a doublet around S^3\"\nlattice box: " +
                           std::to_string(sites) + "^3, length = 6, boundary = periodic\n" + R"(
field phi: vec(2, complex)
phi'' = lap(phi)
n = re(phi[0])/norm(phi)
v = [im(phi[0]), re(phi[1]), im(phi[1])]/norm(phi)
det(a, b, c) = dot(a, cross(b, c))
own = n*det(d(v, x), d(v, y), d(v, z)) - d(n, x)*det(v, d(v, y), d(v, z))
others = d(n, y)*det(v, d(v, x), d(v, z)) - d(n, z)*det(v, d(v, x), d(v, y))
winding = dx^3*total(own + others)/(2*pi^2)
f = )" + times + R"(*pi*(1 + cos(pi*min(r/2.5, 1)))/2
u = sin(f)/max(r, 1e-9)
init phi = 1.3*[cos(f) + 1i*u*x, u*y + 1i*u*z], phi' = 0
precision real = f64
evolve leapfrog, dt = 0.01, until = step >= 1
every 1 step: winding -> "w.h5"
)",
                       {}),
              "winding");
}

TEST(TopologyText, ADoubletWindsAWholeNumberOfTimes) {
  for (const auto& [times, whole] : {std::pair{"1", 1.0}, {"(-1)", -1.0}, {"2", 2.0}}) {
    const double coarse = winding(32, times), fine = winding(64, times);
    EXPECT_NEAR(std::abs(fine), std::abs(whole), 0.05 * std::abs(whole));
    EXPECT_NEAR(std::abs((4 * fine - coarse) / 3), std::abs(whole), 0.005 * std::abs(whole));
  }
  EXPECT_NEAR(winding(32, "1"), -winding(32, "(-1)"), 1e-10);
}

}  // namespace
}  // namespace vphi
