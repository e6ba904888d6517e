// An axion beside links of SU(2), by a Hamiltonian in which the momentum of the links holds its
// source. The same for all sites, U_i = exp(i x T_i) and E_i = p T_i, H is that of x, p, phi and q.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::largest;
using testing::last;

constexpr double kCell = 0.5, kCoupling = 1.2, kAlpha = 2;

std::string chromo(const std::string& init, double dt, double until) {
  return R"(model chromo "An axion and links of two colours"
param alpha = 2, g = 1.2
lattice box: 2^3, spacing = 0.5, boundary = periodic
field phi, q: real
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
Q[i,j] = P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i)
C[i,j] = (Q[i,j] - adj(Q[i,j]))/(8i*g*dx^2)
B[i] = (i == 0)*C[y,z] + (i == 1)*C[z,x] + (i == 2)*C[x,y]
electric[i] = g*dx*E[i] - alpha*(phi*B[i] + U[i]*(phi*B[i])@i*adj(U[i]))/2
of_links = sum(norm2(electric[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4)
H = total(q^2/2 + phi^2/2 + sum((phi@i - phi)^2, i)/(2*dx^2) + of_links)
c = cos(g*dx/2)
d = sin(g*dx/2)
X = [[0, 1], [1, 0]]
)" + init +
         "\nprecision real = f64\n" +
         fmt::format("evolve rk4, dt = {}, until = t > {}\n", dt, until - dt / 2) + R"(
every 1 step: t, x = mean(2*asin(im(tr(X*U[x]))/2)), p = mean(re(tr(X*E[x]))) -> "c.h5"
every 1 step: phi = mean(phi), q = mean(q) -> "c.h5"
)";
}

using Number = std::complex<double>;
using Link = std::array<Number, 4>;

Link times(const Link& a, const Link& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

Link adjoint(const Link& a) {
  return {std::conj(a[0]), std::conj(a[2]), std::conj(a[1]), std::conj(a[3])};
}

/// b of B_z = b T_3, from the four loops around a site with links exp(i x T_1), exp(i x T_2).
double magnetic(double x) {
  const double c = std::cos(x / 2), s = std::sin(x / 2);
  const Link u{c, Number(0, s), Number(0, s), c}, v{c, s, -s, c};
  const Link forth[] = {u, v, adjoint(u), adjoint(v)};
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    Link loop = forth[k];
    for (std::size_t i = 1; i < 4; ++i) loop = times(loop, forth[(k + i) % 4]);
    sum += (loop[0] - loop[3]).imag();
  }
  return sum / (4 * kCoupling * kCell * kCell);
}

/// x, p, phi, q of H = 3 (g dx p - alpha phi b)^2/2 + 24 sin(x/2)^4/(g^2 dx^4) + (q^2 + phi^2)/2.
using State = std::array<double, 4>;
State rate(const State& at) {
  constexpr double kSmall = 1e-3;
  const auto b = [&](double shift) { return magnetic(at[0] + shift * kSmall); };
  const double b0 = b(0);
  const double slope = (8 * (b(1) - b(-1)) - (b(2) - b(-2))) / (12 * kSmall);
  const double field = kCoupling * kCell * at[1] - kAlpha * at[2] * b0;
  const double half = std::sin(at[0] / 2), stiff = kCoupling * kCoupling * std::pow(kCell, 4);
  return {kCoupling * kCell * field,
          kAlpha * at[2] * slope * field - 16 * half * half * half * std::cos(at[0] / 2) / stiff,
          at[3], -at[2] + 3 * kAlpha * b0 * field};
}

State reduced(State state, double until) {
  constexpr int kSteps = 4000;
  const double h = until / kSteps;
  for (int step = 0; step < kSteps; ++step) {
    State sum{}, there = state;
    for (const auto& [weight, next] : {std::pair{1.0, 0.5}, {2.0, 0.5}, {2.0, 1.0}, {1.0, 0.0}}) {
      const State k = rate(there);
      for (std::size_t i = 0; i < 4; ++i) {
        sum[i] += weight * k[i];
        there[i] = state[i] + next * h * k[i];
      }
    }
    for (std::size_t i = 0; i < 4; ++i) state[i] += h / 6 * sum[i];
  }
  return state;
}

TEST(ChromoAxion, AModeThatIsTheSameEverywhereFollowsItsOwnEquations) {
  const std::string init =
      "init phi = 1, q = -0.5, E[k] = ((k == 0)*X + (k == 1)*[[0, -1i], [1i, 0]] "
      "+ (k == 2)*[[1, 0], [0, -1]])/10\n"
      "init U[k] = [[c + 1i*d*(k == 2), 1i*d*(k == 0) + d*(k == 1)], "
      "[1i*d*(k == 0) - d*(k == 1), c - 1i*d*(k == 2)]]";
  const auto result = testing::run_text(chromo(init, 0.01, 1), {});
  const State expected = reduced({kCoupling * kCell, 0.2, 1, -0.5}, 1);
  ASSERT_NEAR(last(result, "t"), 1, 1e-12);
  const char* names[] = {"x", "p", "phi", "q"};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(last(result, names[i]), expected[i], 1e-6) << names[i];
}

TEST(ChromoAxion, HotLinksKeepGaussLawAndTheEnergy) {
  const auto result =
      testing::run_text(chromo("init phi ~ normal, q ~ normal, U ~ hot, E ~ normal, gauss = 0\n"
                               "every 10 steps: law = max(abs(gauss)), energy = H -> \"c.h5\"",
                               0.001, 0.1),
                        {});
  const auto& energy = result.find("energy")->points;
  EXPECT_LT(std::abs(energy.back().second / energy.front().second - 1), 1e-8);
  EXPECT_LT(result.find("law")->points.front().second, 1e-12);
  EXPECT_LT(largest(result, "law"), 1e-7);
}

}  // namespace
}  // namespace vphi
