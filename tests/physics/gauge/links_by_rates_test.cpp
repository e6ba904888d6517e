// Links of SU(n) moved by integrators of general rates: a top in closed form, a mode that a current
// damps against its own equation, the order of the texts, their agreement with kicks and drifts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::largest;
using testing::last;
using testing::run_text;

// With H = sum_a E_a^2/2 + c E_3^2/2 the velocity is w = E + c E_3 T_3, so that E_1 + i E_2 turns
// with the angular velocity -c E_3, and what acts on the other side, adj(U) E U, stays as it is.
std::string top(const std::string& integrator, const std::string& more = "") {
  return R"(model top "Links that turn freely, one axis of the algebra heavier"
param c = 1.5
lattice box: 2^3, spacing = 1, boundary = periodic
gauge U: SU(2), E: su(2)
X = [[0, 1], [1, 0]]
Y = [[0, -1i], [1i, 0]]
Z = [[1, 0], [0, -1]]
H = total(sum(norm2(E[i]) + c*re(tr(Z*E[i]))^2/2, i))
start = 0.4*X + 0.3*Y + 0.25*Z
init U = [[cos(0.7), sin(0.7)], [-sin(0.7), cos(0.7)]], E = start
precision real = f64
right = adj(U[x])*E[x]*U[x]
turned = [[cos(0.7), -sin(0.7)], [sin(0.7), cos(0.7)]]
stays = right - turned*start*adj(turned)
evolve )" +
         integrator + R"(, until = t > 2
at end: t, e1 = mean(re(tr(X*E[y]))), e2 = mean(re(tr(Y*E[y]))), e3 = mean(re(tr(Z*E[y]))) -> "t.h5"
at end: right = max(norm2(stays)), group = max(norm2(adj(U[z])*U[z] - [[1, 0], [0, 1]])) -> "t.h5"
)" + more;
}

double off(const runtime::RunResult& result) {
  const double angle = -1.5 * 0.5 * last(result, "t");
  const double e1 = 0.8 * std::cos(angle) - 0.6 * std::sin(angle);
  const double e2 = 0.8 * std::sin(angle) + 0.6 * std::cos(angle);
  EXPECT_NEAR(last(result, "e3"), 0.5, 1e-13);
  EXPECT_LT(last(result, "group"), 1e-28);
  return std::hypot(last(result, "e1") - e1, last(result, "e2") - e2) +
         std::sqrt(last(result, "right"));
}

TEST(LinksByRates, ATopTurnsAsInClosedForm) {
  const double coarse = off(run_text(top("rk4, dt = 0.1"), {}));
  const double fine = off(run_text(top("rk4, dt = 0.05"), {}));
  EXPECT_LT(fine, 1e-6);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.3);
  EXPECT_LT(off(run_text(top("tsit5, tol = 1e-10"), {})), 1e-8);
}

TEST(LinksByRates, DevicesAgree) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  testing::Simulation setup;
  setup.device = "opencl";
  const auto native = run_text(top("rk4, dt = 0.1"), {}),
             other = run_text(top("rk4, dt = 0.1"), setup);
  for (const char* name : {"e1", "e2", "e3"})
    EXPECT_NEAR(last(native, name), last(other, name), 1e-13) << name;
}

// A_i^a = A(t) delta_i^a with a current sigma A': x = g dx A obeys
// x'' = -(16/dx^2) sin^3(x/2) cos(x/2) - sigma x' on the lattice.
TEST(LinksByRates, ACurrentDampsAMode) {
  const double dx = 0.4, g = 1.5, until = 2, sigma = 0.7;
  double x = g * dx, v = 0;
  constexpr int kSteps = 200000;
  const double h = until / kSteps;
  const auto force = [&](double at) {
    return -16 / (dx * dx) * std::pow(std::sin(at / 2), 3) * std::cos(at / 2);
  };
  for (int i = 0; i < kSteps; ++i) {  // exact damping in the middle of a leapfrog step
    v += h / 2 * force(x);
    x += h / 2 * v;
    v *= std::exp(-sigma * h);
    x += h / 2 * v;
    v += h / 2 * force(x);
  }
  const auto result = run_text(R"(model mode "A mode of SU(2) that a current damps"
lattice box: 2^3, spacing = 0.4
param g = 1.5, s = 0.7
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
H = total((g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4))
E[i]' = derived - s*E[i]
c = cos(g*dx/2)
d = sin(g*dx/2)
init U[k] = [[c + 1i*d*(k == 2), 1i*d*(k == 0) + d*(k == 1)], [1i*d*(k == 0) - d*(k == 1), c - 1i*d*(k == 2)]]
init E = 0
X = [[0, 1], [1, 0]]
precision real = f64
evolve rk4, dt = 0.01, until = t > 1.995
at end: x = mean(2*asin(im(tr(X*U[x]))/2)), t -> "m.h5"
)",
                               {});
  ASSERT_NEAR(last(result, "t"), until, 1e-12);
  EXPECT_NEAR(last(result, "x"), x, 1e-8);
}

/// Links of SU(n) and a charge that start from a drawn state.
std::string hot(int n, const std::string& integrator, double until) {
  return fmt::format(R"(model hot "Hot links and a charge"
lattice box: {2}, spacing = 1
gauge U: SU({0}), E: su({0})
field phi, q: vec({0}, complex)
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
matter = norm2(q) + norm2(phi) + sum(norm2(D[i]), i)
H = total(matter + sum(norm2(E[i]), i) + 2*sum({0} - re(tr(P[i,j])), i < j))
init U ~ hot, E ~ normal, phi ~ normal + 1i*normal, q ~ normal, gauss = 0
precision real = f64
evolve {1}, until = t > {3}
at end: t, p = mean(re(tr(P[x,y]))), e = mean(norm2(E[x])), m = mean(norm2(phi)), law = max(abs(gauss)) -> "h.h5"
)",
                     n, integrator, n == 2 ? "2 * 4 * 2" : "2^2", until);
}

double apart(const runtime::RunResult& a, const runtime::RunResult& b) {
  double most = 0;
  for (const char* name : {"t", "p", "e", "m"})
    most = std::max(most, std::abs(last(a, name) / last(b, name) - 1));
  return most;
}

TEST(LinksByRates, AgreeWithKicksAndDriftsToTheirOrder) {
  const auto kicked = run_text(hot(2, "vv6, dt = 0.005", 0.4975), {});
  const auto coarse = run_text(hot(2, "rk4, dt = 0.02", 0.49), {});
  const auto fine = run_text(hot(2, "rk4, dt = 0.01", 0.495), {});
  EXPECT_LT(apart(fine, kicked), 1e-6);
  EXPECT_NEAR(std::log2(apart(coarse, kicked) / apart(fine, kicked)), 4, 0.4);
  EXPECT_NEAR(std::log2(last(coarse, "law") / last(fine, "law")), 4, 0.4);
}

/// The momentum of links of which H takes E - kappa*S: a velocity that does not commute with E.
std::string turning(int n, const std::string& step, int rounds, double until = 0.4975) {
  std::string text = "integrator midpoint(x' = f(x, t)) {\n  k = x + dt/2*f(x, t + dt/2)\n";
  for (int i = 1; i < rounds; ++i) text += "  k = x + dt/2*f(k, t + dt/2)\n";
  return fmt::format(R"(model turning "Links and fields of their algebra"
param kappa = 0.7
lattice box: {2}, spacing = 1, boundary = periodic
gauge U: SU({0}), E: su({0})
field S, T: su({0})
P[i,j] = loop(i, j, -i, -j)
F[i] = U[i]*S@i*adj(U[i]) - S
of_links = sum(norm2(E[i] - kappa*S), i) + 2*sum({0} - re(tr(P[i,j])), i < j)
H = total(norm2(T) + norm2(S) + sum(norm2(F[i]), i) + of_links)
init U ~ hot, E = 0, S ~ normal, T = 0
precision real = f64
evolve {1}, until = t > {3}
every 5 steps: t, p = mean(re(tr(P[x,y]))), e = mean(norm2(E[x])), m = mean(norm2(S)) -> "h.h5"
every 5 steps: law = max(abs(gauss)), energy = H -> "h.h5"
)",
                     n, step, n == 2 ? "2 * 4 * 2" : "2^2", until) +
         text + "  x = 2*k - x\n}\n";
}

TEST(LinksByRates, TheMidpointKeepsGaussLawToRounding) {
  const auto coarse = run_text(turning(2, "midpoint, dt = 0.02", 11), {});
  EXPECT_LT(largest(coarse, "law"), 2e-13);
  const auto off = run_text(turning(2, "midpoint, dt = 0.02", 3), {});  // not yet the midpoint
  EXPECT_GT(largest(off, "law"), 1e-9);
  const auto fine = run_text(turning(2, "midpoint, dt = 0.01", 10), {});
  const auto exact = run_text(turning(2, "rk4, dt = 0.005", 1), {});
  EXPECT_LT(largest(exact, "law"), 1e-6);
  EXPECT_GT(largest(exact, "law"), 1e-11);
  EXPECT_NEAR(std::log2(apart(coarse, exact) / apart(fine, exact)), 2, 0.2);
}

TEST(LinksByRates, TheMidpointOfSU3KeepsGaussLawToRounding) {
  EXPECT_LT(largest(run_text(turning(3, "midpoint, dt = 0.004", 6, 0.059), {}), "law"), 5e-13);
}

TEST(LinksByRates, OfSU3AgreeWithKicksAndDrifts) {
  const auto kicked = run_text(hot(3, "vv6, dt = 0.01", 0.195), {});
  const auto rates = run_text(hot(3, "rk4, dt = 0.01", 0.195), {});
  EXPECT_LT(apart(rates, kicked), 1e-7);
  EXPECT_LT(last(rates, "law"), 1e-6);
}

}  // namespace
}  // namespace vphi
