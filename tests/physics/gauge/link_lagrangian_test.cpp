// Links that move by a written Lagrangian, against the Hamiltonian of the same theory written by
// hand: momenta, equations, starts that obey Gauss's law, energies and the expansion.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::largest;
using testing::last;
using testing::run_text;

void expect_same(const std::string& by_l, const std::string& by_h,
                 const std::vector<const char*>& names) {
  const auto l = run_text(by_l, {}), h = run_text(by_h, {});
  for (const char* name : names)
    EXPECT_NEAR(last(l, name), last(h, name), 1e-11 * (1e-3 + std::abs(last(h, name)))) << name;
  EXPECT_GT(std::abs(last(h, names[0])), 1e-3);
}

/// `moves`: fields, and L or H. phi couples to the mean of E.B of both links at a site.
std::string photons(const std::string& fields, const std::string& moves, const std::string& start) {
  return R"(model photons "An axion, photons and charges"
units reduced_planck
metric frw(a)
param alpha = 4, m = 0.5, e = 0.8
lattice box: 4 * 6 * 4, spacing = 0.5, boundary = periodic
)" + fields +
         R"(
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
C[i,j] = im(P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i))/(4*e*dx^2)
B = [C[y,z], C[z,x], C[x,y]]
D[i] = (U[i]*chi@i - chi)/dx
)" + moves +
         R"(
init phi = 1 + 0.2*cos(pi*x), chi = 0.3 + 0.1i*cos(2*pi*y/3)
init U[i] = exp(0.2i*cos(pi*(x + z) + 2*pi*y/3)), E = 0, gauss = 0
)" + start +
         R"(
precision real = f64
evolve rk4, dt = 0.02, until = t > 0.99
at end: e2 = mean(E[x]^2), a, rate = frw.H, f = mean(phi), c = mean(norm2(chi)) -> "p.h5"
at end: v = mean(phi'), u = mean(norm2(chi')), r = mean(rho), q = mean(p) -> "p.h5"
at end: law = max(abs(gauss)) -> "p.h5"
)";
}

TEST(LinksByLagrangian, AnAxionAndChargesHaveTheirHamiltonian) {
  const std::string by_l =
      photons("field phi: real, chi: complex", R"(electric[i] = im(U[i]'*adj(U[i]))/(e*dx)
at_site[i] = (electric[i] + electric[i]@-i)/2
matter = phi'^2/2 + norm2(chi') - (norm2(grad(phi))/2 + sum(norm2(D[i]), i))/a^2 - m^2*phi^2/2
light = sum(electric[i]^2, i)/(2*a^2) - sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*a^4)
lagrangian L = matter + light + alpha*phi*sum(at_site[i]*B[i], i)/a^3)",
              "init phi' = -1, chi' = 0.2i*sin(pi*x)");
  const std::string by_h = photons("field phi, q: real, chi, k: complex",
                                   R"(source[i] = alpha*(phi*B[i] + (phi*B[i])@i)/2
electric[i] = e*dx*E[i] - source[i]
matter = (q^2/2 + norm2(k))/a^3 + a*(norm2(grad(phi))/2 + sum(norm2(D[i]), i)) + a^3*m^2*phi^2/2
light = sum(electric[i]^2, i)/(2*a) + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*a)
H = total(matter + light))",
                                   "init q = -1, k = 0.2i*sin(pi*x)");
  expect_same(by_l, by_h, {"e2", "a", "rate", "f", "c", "v", "u", "r", "q", "law"});
}

std::string colours(const std::string& fields, const std::string& moves, const std::string& start,
                    const std::string& evolve) {
  return R"(model colours "Links of two colours, a doublet and a triplet"
param g = 0.9, kappa = 0.6
lattice box: 2 * 4 * 2, spacing = 0.7, boundary = periodic
)" + fields +
         R"(
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*chi@i - chi)/dx
F[i] = (U[i]*S@i*adj(U[i]) - S)/dx
magnetic = 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4)
V = norm2(chi) + norm2(S) + sum(norm2(D[i]) + norm2(F[i]), i)
)" + moves +
         R"(
u = [[cos(0.4), 1i*sin(0.4)], [1i*sin(0.4), cos(0.4)]]
f = 0.5*cos(pi*y/1.4)
init U[i] = [[cos(f), sin(f)], [-sin(f), cos(f)]]*u, E[i] = (i == 0)*[[0.2, 0.1i], [-0.1i, -0.2]]
init chi = [0.5, 0.2i*cos(2*pi*y/2.8)], S = [[0.3, 0.1], [0.1, -0.3]], gauss = 0
)" + start +
         "\nprecision real = f64\nevolve " + evolve + R"(, until = t > 0.39
at end: e2 = mean(norm2(E[y])), p = mean(re(tr(P[x,y]))), c = mean(norm2(chi)) -> "c.h5"
at end: s = mean(norm2(S)), v = mean(norm2(S')), law = max(abs(gauss)) -> "c.h5"
)";
}

std::string colours_by_l(const std::string& more, const std::string& evolve) {
  return colours("field chi: vec(2, complex), S: su(2)",
                 R"(electric[i] = U[i]'*adj(U[i])/(1i*g*dx)
kinetic_of_all = norm2(chi') + norm2(S') + sum(norm2(electric[i]), i)
lagrangian L = kinetic_of_all - magnetic - V)" +
                     more,
                 "init chi' = 0, S' = [[0.1, 0.2i], [-0.2i, -0.1]]", evolve);
}

std::string colours_by_h(const std::string& electric, const std::string& evolve) {
  return colours("field chi, q: vec(2, complex), S, T: su(2)",
                 "H = total(norm2(q) + norm2(T) + sum(norm2(" + electric + "), i) + magnetic + V)",
                 "init q = 0, T = [[0.1, 0.2i], [-0.2i, -0.1]]", evolve);
}

const std::vector<const char*> kColours{"e2", "p", "c", "s", "v", "law"};

TEST(LinksByLagrangian, ColoursMoveByKicksAndDrifts) {
  expect_same(colours_by_l("", "leapfrog, dt = 0.02"),
              colours_by_h("g*dx*E[i]", "leapfrog, dt = 0.02"), kColours);
}

// kappa*A_a'*S_a is linear in the velocities: g dx E = A' + kappa S.
TEST(LinksByLagrangian, ATermLinearInVelocitiesIsPartOfTheMomentum) {
  expect_same(colours_by_l(" + kappa*sum(2*re(tr(electric[i]*S)), i)", "rk4, dt = 0.02"),
              colours_by_h("g*dx*E[i] - kappa*S", "rk4, dt = 0.02"), kColours);
}

}  // namespace
}  // namespace vphi
