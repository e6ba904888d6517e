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

/// Tensor waves of waves of links: of U(1), or the same along one generator of SU(n). The coupling
/// of T_3 = sigma_3/2 is half of that of U(1), whose momentum is then twice that of T_3.
std::string along_one_generator(int n) {
  const std::string head = R"(model waves "Links along one generator and their tensor waves"
param g = 0.9
lattice box: 6 * 4 * 4, spacing = 0.5, boundary = periodic
field u: sym(3)
angle[k] = 0.4*sin(2*pi*index(x)/6)*(k == 1) + 0.5*cos(pi*index(y)/2)*(k == 2)
speed[k] = 0.3*cos(2*pi*index(x)/6)*(k == 2) + 0.2*(k == 0)
P[i,j] = loop(i, j, -i, -j)
Q[i,j] = P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i)
)";
  const std::string tail = R"(
init u = 0, u' = 0
precision real = f64
evolve heun, dt = 0.02, until = t > 1
h = transverse_traceless(u')
every 10 steps: t, mean(norm2(h)) -> "gw.h5"
)";
  if (n == 1)
    return head + R"(
gauge U: U(1), E: real
C[i,j] = im(Q[i,j])/(2*g*dx^2)
F[i] = g*dx*(E[i] + E[i]@-i)/4
of_E = [F[x], F[y], F[z]]
of_B = [C[y,z], C[z,x], C[x,y]]
H = total((g*dx)^2*sum(E[i]^2, i)/8 + 4*sum(1 - re(P[i,j]), i < j)/(g^2*dx^4))
u'' = lap(u) - 2*(outer(of_E, of_E) + outer(of_B, of_B))
init U[k] = exp(1i*angle[k]), E[k] = 2*speed[k]
)" + tail;
  const std::string zero = n == 2 ? "" : ", 0";
  const auto matrix = [&](const std::string& a, const std::string& b, const std::string& c,
                          const std::string& d, const std::string& last) {
    const std::string third = n == 2 ? "" : ", [0, 0, " + last + "]";
    return "[[" + a + ", " + b + zero + "], [" + c + ", " + d + zero + "]" + third + "]";
  };
  const std::string size = std::to_string(n);
  return head + "gauge U: SU(" + size + "), E: su(" + size + ")\n" +
         "X = " + matrix("0", "1", "1", "0", "0") + "\nY = " + matrix("0", "-1i", "1i", "0", "0") +
         "\nZ = " + matrix("1", "0", "0", "-1", "0") + R"(
T[a] = (a == 0)*X + (a == 1)*Y + (a == 2)*Z
C[a,i,j] = im(tr(T[a]*Q[i,j]))/(4*g*dx^2)
F[a,i] = g*dx*re(tr(T[a]*(E[i] + (adj(U[i])*E[i]*U[i])@-i)))/2
of_E[a] = [F[a,x], F[a,y], F[a,z]]
of_B[a] = [C[a,y,z], C[a,z,x], C[a,x,y]]
H = total((g*dx)^2*sum(norm2(E[i]), i) + 2*sum()" +
         size + R"( - re(tr(P[i,j])), i < j)/(g^2*dx^4))
u'' = lap(u) - 2*sum(outer(of_E[a], of_E[a]) + outer(of_B[a], of_B[a]), a = 0..2)
init U[k] = )" +
         matrix("exp(1i*angle[k])", "0", "0", "exp(-1i*angle[k])", "1") +
         "\ninit E[k] = " + matrix("speed[k]/2", "0", "0", "-speed[k]/2", "0") + tail;
}

TEST(WavesOfLinks, AlongOneGeneratorAreThoseOfU1) {
  const auto one = testing::run_text(along_one_generator(1), {});
  for (const int n : {2, 3}) {
    const auto other = testing::run_text(along_one_generator(n), {});
    const auto *a = one.find("mean(norm2(h))"), *b = other.find("mean(norm2(h))");
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->points.size(), b->points.size());
    EXPECT_GT(a->points.back().second, 1e-6);
    for (std::size_t i = 0; i < a->points.size(); ++i)
      EXPECT_NEAR(a->points[i].second, b->points[i].second, 1e-12 * a->points.back().second);
  }
}

}  // namespace
}  // namespace vphi
