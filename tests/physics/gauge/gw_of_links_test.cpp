// Gravitational waves whose source is the stress of links and of a charged field, against closed
// forms with the wave numbers of the lattice: k1 = 2 sin(dx/2)/dx of neighbours, k2 = sin(dx)/dx of
// loops around a site and of central differences.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr double kCell = 2 * std::numbers::pi / 16;

/// u'' of stress and `output` of its transverse part, for links and a charged field chi.
std::string tensor_of(const std::string& source, const std::string& init) {
  return R"(model waves "Tensor waves of links and charges"
param g = 0.7
lattice box: 16 * 16 * 4, spacing = 2*pi/16, boundary = periodic
laplacian = iso7
field chi, k: complex
gauge U: U(1), E: real
field u: sym(3)
P[i,j] = loop(i, j, -i, -j)
C[i,j] = im(P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i))/(4*g*dx^2)
electric[i] = g*dx*(E[i] + E[i]@-i)/2
F = [electric[x], electric[y], electric[z]]
B = [C[y,z], C[z,x], C[x,y]]
D[i] = (U[i]*chi@i - chi)/dx
G[i] = (U[i]*chi@i - U[-i]*chi@-i)/(2*dx)
R = [re(G[x]), re(G[y]), re(G[z])]
I = [im(G[x]), im(G[y]), im(G[z])]
of_links = (g*dx)^2*sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)/(g^2*dx^4)
H = total(norm2(k) + norm2(chi) + sum(norm2(D[i]), i) + of_links)
u'' = lap(u) + )" +
         source + "\ninit " + init + R"(, E = 0, u = 0, u' = 0
precision real = f64
evolve rk4, dt = 0.02, until = t > 2
h = transverse_traceless(u')
every 10 steps: t, mean(norm2(h)) -> "gw.h5"
)";
}

/// Compares mean(norm2(h)) with (scale*rate(t))^2 along the run.
template <typename Rate>
void expect_power(const std::string& text, double scale, Rate rate, double tolerance) {
  const auto result = testing::run_text(text, {});
  const auto* power = result.find("mean(norm2(h))");
  ASSERT_TRUE(power);
  double largest = 0, worst = 0;
  for (const auto& [t, value] : power->points) {
    const double expected = std::pow(scale * rate(t), 2);
    largest = std::max(largest, expected);
    worst = std::max(worst, std::abs(value - expected));
  }
  EXPECT_GT(largest, 0) << "nothing was compared";
  EXPECT_LT(worst, tolerance * largest);
}

/// Velocity at t of w'' = -K^2 w + f0 + f1 cos(2 w0 t) from rest.
double driven(double t, double big, double w0, double f0, double f1) {
  return f0 * std::sin(big * t) / big +
         f1 * (big * std::sin(big * t) - 2 * w0 * std::sin(2 * w0 * t)) / (big * big - 4 * w0 * w0);
}

// A standing wave A_z = a cos(x) cos(k1 t): E_z^2 and B_y^2 have the wave number 2 along x, whose
// transverse part is (yy - zz)/2. With w = u_yy - u_zz = S cos(2 x), <h'^2> = S'^2/4.
TEST(WavesOfLinks, StandingWaveOfLinks) {
  const double a = 1e-3, k1 = 2 * std::sin(kCell / 2) / kCell, k2 = std::sin(kCell) / kCell;
  const double big = 2 * std::sin(kCell) / kCell, part = a * a / 2;
  expect_power(
      tensor_of("(-2)*(outer(F, F) + outer(B, B))",
                "chi = 0, k = 0, U[i] = exp(1i*g*dx*1e-3*cos(x)*(i == 2))"),
      0.5,
      [&](double t) {
        return driven(t, big, k1, part * (k2 * k2 + k1 * k1), part * (k2 * k2 - k1 * k1));
      },
      1e-5);
}

// chi = A (cos x + cos y) cos(w t), turned by a gauge transformation with its links: as for a field
// without links, u_xy = S(t) sin(x) sin(y), <h'^2> = S'^2/8.
TEST(WavesOfLinks, CovariantGradientsOfACharge) {
  const double k1 = 2 * std::sin(kCell / 2) / kCell, k2 = std::sin(kCell) / kCell;
  const double omega = std::sqrt(k1 * k1 + 1), strength = 4 * 0.09 * k2 * k2 / 2;
  const std::string turn = "0.8*cos(x + 2*y) + 0.5*sin(y)";
  const std::string along_x = "0.8*cos(x + dx + 2*y) + 0.5*sin(y)";
  const std::string along_y = "0.8*cos(x + 2*y + 2*dx) + 0.5*sin(y + dx)";
  expect_power(
      tensor_of("4*(outer(R, R) + outer(I, I))", "chi = 0.3*(cos(x) + cos(y))*exp(1i*(" + turn +
                                                     ")), k = 0, U[i] = exp(1i*(" + turn +
                                                     " - (i == 0)*(" + along_x + ") - (i == 1)*(" +
                                                     along_y + ") - (i == 2)*(" + turn + ")))"),
      1 / std::sqrt(8.0),
      [&](double t) { return driven(t, std::sqrt(2.0) * k1, omega, strength, strength); }, 1e-5);
}

}  // namespace
}  // namespace vphi
