// Links of SU(n) under a written Hamiltonian: one mode known in closed form, the run of U(1) that
// lies in SU(2), Gauss's law with several groups and fields, gauge invariance, order of the step.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::largest;
using testing::last;
using testing::run_text;

/// n - re(tr(adj(U)*U)) is computed as |1 - adj(U)*U|^2/2: 5e-29 is 1e-14 of the matrix.
constexpr const char* kFromGroup = "from_group";

// ---- A_i^a = A(t) delta_i^a of SU(2)
// -------------------------------------------------------------

/// The same amplitude for each axis, along the generator of its number, at rest.
std::string one_mode(double dx, double g, double dt, double until) {
  return "model mode \"Homogeneous links of SU(2)\"\nlattice box: 4^3, spacing = " + exact(dx) +
         "\nparam g = " + exact(g) + R"(
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
H = total((g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4))
c = cos(g*dx/2)
s = sin(g*dx/2)
init U[k] = [[c + 1i*s*(k == 2), 1i*s*(k == 0) + s*(k == 1)], [1i*s*(k == 0) - s*(k == 1), c - 1i*s*(k == 2)]]
init E = 0
X = [[0, 1], [1, 0]]
turn = 2*asin(im(tr(X*U[x]))/2)
precision real = f64
evolve yoshida4, dt = )" +
         exact(dt) + ", until = t > " + exact(until) + R"(
at end: amplitude = mean(turn)/(g*dx), spread = max(turn) - min(turn) -> "m.h5"
every 1 step: max(abs(gauss)), t -> "m.h5"
expect drift(H) < 1e-6
)";
}

// On the lattice the ansatz is exact: with x = g dx A, s = sin(x/2), the three plaquettes have
// re(tr(P)) = 2 - 4 s^4, and x'' = -(16/dx^2) s^3 cos(x/2).
TEST(RealTimeLinks, OneModeOfSU2FollowsItsOwnEquation) {
  const double dx = 0.4, g = 1.5, until = 3, dt = 0.01;
  double x = g * dx, v = 0;
  constexpr int kSteps = 300000;
  const double h = until / kSteps;
  const auto force = [&](double at) {
    return -16 / (dx * dx) * std::pow(std::sin(at / 2), 3) * std::cos(at / 2);
  };
  for (int i = 0; i < kSteps; ++i) {
    v += h / 2 * force(x);
    x += h * v;
    v += h / 2 * force(x);
  }
  const auto result = run_text(one_mode(dx, g, dt, until - dt / 2), {});
  EXPECT_NEAR(last(result, "amplitude"), x / (g * dx), 4e-7);
  EXPECT_LT(std::abs(last(result, "spread")), 1e-13);
  EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-13);
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
}

// In the continuum A0 cn(sqrt(2) g A0 t, 1/2), of period 5.244115108584/(g A0): 0 after a quarter.
TEST(RealTimeLinks, OneModeOfSU2HasThePeriodOfTheContinuum) {
  const double g = 2, quarter = 5.244115108584 / g / 4;
  double left[2];
  for (int i = 0; i < 2; ++i) {
    const double dx = 0.05 / (1 << i);
    constexpr int kSteps = 400;
    const double dt = quarter / kSteps;
    left[i] = last(run_text(one_mode(dx, g, dt, quarter - dt / 2), {}), "amplitude");
  }
  EXPECT_NEAR(left[0] / left[1], 4, 0.05);            // of second order in dx
  EXPECT_NEAR((4 * left[1] - left[0]) / 3, 0, 2e-7);  // without this error
}

// ---- U(1) in SU(2)
// -------------------------------------------------------------------------------

/// A wave of links along sigma_3, or of U(1) with half of the angle, and a scalar singlet.
std::string abelian(bool group_of_two, bool expanding, const std::string& integrator) {
  const std::string a = expanding ? "a" : "1";
  const std::string angle = "0.3*sin(2*pi*index(x)/6)*(k == 1) + 0.5*cos(2*pi*index(y)/6)*(k == 2)";
  return R"(model abelian "Links along one generator"
units reduced_planck
lattice box: 6^3, spacing = 0.7
)" + std::string(expanding ? "metric frw(a), rho_r = 0.1" : "metric minkowski") +
         R"(
param g = 0.8
f[k] = )" +
         angle +
         (group_of_two ? R"(
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
field_energy = 2 - re(tr(P[x,y]))
H = total((g*dx)^2*sum(norm2(E[i]), i)/)" +
                             a + " + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4*" + a + R"())
init U[k] = [[exp(0.5i*f[k]), 0], [0, exp(-0.5i*f[k])]]
init E[k] = [[0.1*(k == 0), 0], [0, -0.1*(k == 0)]]
)"
                       : R"(
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
field_energy = 2*(1 - re(P[x,y]))
H = total((g*dx)^2*sum(E[i]^2, i)/(8*)" +
                             a + ") + 4*sum(1 - re(P[i,j]), i < j)/(g^2*dx^4*" + a + R"())
init U[k] = exp(0.5i*f[k])
init E[k] = 0.4*(k == 0)
)") +
         R"(precision real = f64
evolve )" +
         integrator + R"(, dt = 0.05, until = t > 4
every 20 steps: mean(field_energy), max(field_energy)
)" + std::string(expanding ? ", a, mean(rho), mean(p)" : "") +
         R"( -> "u.h5"
every 20 steps: max(abs(gauss)) -> "u.h5"
)";
}

TEST(RealTimeLinks, AlongOneGeneratorIsTheRunOfU1) {
  for (const char* integrator : {"leapfrog", "vv4"}) {
    for (const bool expanding : {false, true}) {
      const auto two = run_text(abelian(true, expanding, integrator), {});
      const auto one = run_text(abelian(false, expanding, integrator), {});
      for (const auto& series : one.series) {
        if (series.name == "max(abs(gauss))") continue;
        const auto* other = two.find(series.name);
        ASSERT_TRUE(other) << series.name;
        ASSERT_EQ(other->points.size(), series.points.size());
        ASSERT_GE(series.points.size(), 4u);
        for (std::size_t i = 0; i < series.points.size(); ++i)
          EXPECT_NEAR(other->points[i].second / series.points[i].second, 1, 1e-12)
              << series.name << integrator;
      }
      EXPECT_LT(largest(two, "max(abs(gauss))"), 1e-13);
    }
  }
}

// ---- SU(2) x U(1) with matter
// --------------------------------------------------------------------

/// A doublet of both groups, a triplet of SU(2) and a complex field of U(1), charged at the start:
/// the momenta of doublet and complex field are solved from E and B. `turned`: everything is
/// transformed by V(x) of SU(2) and exp(1i*b(x)) of U(1).
std::string electroweak(bool expanding, const std::string& integrator, double dt, bool turned) {
  const std::string a = expanding ? "a" : "1";
  const auto text = [&](std::string body) {
    for (std::size_t at; (at = body.find('@' + std::string("A"))) != std::string::npos;)
      body.replace(at, 2, a);
    return body;
  };
  return R"(model electroweak "SU(2) x U(1), a doublet, a triplet and a complex field"
units reduced_planck
lattice box: 4 * 6 * 5, spacing = 0.6
)" + std::string(expanding ? "metric frw(a)" : "metric minkowski") +
         R"(
param g = 0.9, e = 0.5
field phi, q: vec(2, complex)
field S, T: su(2)
field chi, k: complex
gauge U: SU(2), E: su(2)
gauge W: U(1), B: real
P[i,j] = loop(U, i, j, -i, -j)
R[i,j] = loop(W, i, j, -i, -j)
D[i] = (W[i]*U[i]*phi@i - phi)/dx
C[i] = (W[i]*chi@i - chi)/dx
F[i] = (U[i]*S@i*adj(U[i]) - S)/dx
)" + text(R"(V = (norm2(phi) - 1)^2/2 + norm2(S)/2 + norm2(phi)*norm2(chi)/3 + re(dot(phi, S*phi))/4
links = (g*dx)^2*sum(norm2(E[i]), i)/@A + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4*@A) + (e*dx)^2*sum(B[i]^2, i)/(2*@A) + sum(1 - re(R[i,j]), i < j)/(e^2*dx^4*@A)
H = total(norm2(q)/@A^3 + norm2(k)/@A^3 + norm2(T)/@A^3 + @A*sum(norm2(D[i]) + norm2(C[i]) + norm2(F[i]), i) + @A^3*V + links)
)") + R"(
X = 2*pi*index(x)/4
Y = 2*pi*index(y)/6
Z = 2*pi*index(z)/5
v = )" +
         (turned ? "[[cos(sin(X)+Y)*exp(1i*cos(Z)), sin(sin(X)+Y)*exp(2i*sin(Y))], "
                   "[-sin(sin(X)+Y)*exp(-2i*sin(Y)), cos(sin(X)+Y)*exp(-1i*cos(Z))]]"
                 : "[[1 + 0i*X, 0], [0, 1]]") +
         R"(
b = )" + (turned ? "exp(1i*(sin(X) + 2*cos(Y + Z)))" : "1 + 0i*X") +
         R"(
u[i] = [[cos(0.4*sin(Y))*exp(0.3i*(i == 0)), sin(0.4*sin(Y))*exp(1i*Z*(i == 1))], [-sin(0.4*sin(Y))*exp(-1i*Z*(i == 1)), cos(0.4*sin(Y))*exp(-0.3i*(i == 0))]]
m[i] = [[0.3*sin(X), 0.2*cos(Z) - 0.1i*(i == 2)], [0.2*cos(Z) + 0.1i*(i == 2), -0.3*sin(X)]]
f = [1.2 + 0.2*cos(X), 0.1*sin(Y) + 0.3i*cos(Z)]
w[i] = exp(0.3i*sin(Z)*(i == 0) + 0.2i*(i == 2))
electric = sum(m[i] - (adj(u[i])*m[i]*u[i])@-i, i)
pi_f = 0.2*f - 2i*electric*f/norm2(f)
c = 0.9 + 0.3i*cos(Y)
l[i] = 0.2*sin(X)*(i == 0) + 0.1*cos(Y)*(i == 1)
magnetic = sum(l[i] - l[i]@-i, i) + 2*im(dot(f, pi_f))
init U[i] = v*u[i]*adj(v@i)
init W[i] = b*w[i]*conj(b@i)
init E[i] = v*m[i]*adj(v)
init B[i] = l[i]
init phi = b*(v*f)
init q = b*(v*pi_f)
init S = v*[[0.3*cos(Y), 0.1 + 0.2i*sin(X)], [0.1 - 0.2i*sin(X), -0.3*cos(Y)]]*adj(v)
init T = 0
init chi = b*c
init k = b*(0.1*c - 0.5i*magnetic*c/norm2(c))
precision real = f64
evolve )" +
         integrator + ", dt = " + exact(dt) + R"(, until = t > 2.0001
every 1 step: max(abs(gauss)) -> "e.h5"
at end: from_group = max(abs(re(tr(adj(U[x])*U[x])) - 2)), mean(norm2(phi)), mean(norm2(S)), mean(re(tr(P[x,y]))), mean(re(R[y,z])), mean(norm2(D[z])), mean(sum(norm2(E[i]), i)) -> "e.h5"
at end: violation = max(abs(gauss)), energy = )" +
         (expanding ? "mean(rho), scale = a" : "H") + R"( -> "e.h5"
every 1 step: )" +
         (expanding ? "mean(rho)/(3*frw.H^2) - 1" : "H") + R"( -> "e.h5"
)";
}

const std::vector<std::string> kWatched{"mean(norm2(phi))",     "mean(norm2(S))",
                                        "mean(re(tr(P[x,y])))", "mean(re(R[y,z]))",
                                        "mean(norm2(D[z]))",    "mean(sum(norm2(E[i]), i))"};

TEST(RealTimeLinks, GaussLawOfTwoGroupsToRoundOff) {
  for (const char* integrator : {"position_verlet", "vv4"}) {
    for (const bool expanding : {false, true}) {
      const auto result = run_text(electroweak(expanding, integrator, 0.02, false), {});
      EXPECT_LT(largest(result, "max(abs(gauss))"), 2e-13) << integrator << expanding;
      EXPECT_LT(last(result, kFromGroup), 5e-29) << integrator << expanding;
    }
  }
}

TEST(RealTimeLinks, TransformedStartGivesTheSameRun) {
  for (const bool expanding : {false, true}) {
    const auto plain = run_text(electroweak(expanding, "leapfrog", 0.02, false), {});
    const auto turned = run_text(electroweak(expanding, "leapfrog", 0.02, true), {});
    for (const std::string& name : kWatched)
      EXPECT_NEAR(last(turned, name) / last(plain, name), 1, 1e-11) << name;
    EXPECT_LT(last(turned, "violation"), 1e-13);
  }
}

// Program units change no physical number: links are numbers of modulus 1 in any of them.
TEST(RealTimeLinks, ProgramUnitsChangeNothing) {
  std::string text = electroweak(true, "leapfrog", 0.02, false);
  const auto plain = run_text(text, {});
  const std::string metric = "metric frw(a)\n";
  text.replace(text.find(metric), metric.size(), metric + "rescale A = 1/2, B = 3\n");
  const auto rescaled = run_text(text, {});
  for (const std::string& name : kWatched)
    EXPECT_NEAR(last(rescaled, name) / last(plain, name), 1, 1e-11) << name;
  EXPECT_LT(largest(rescaled, "max(abs(gauss))"), 2e-13);
}

// Forces that are not the derivative of H, or a drift that is not along the group, change the
// energy at first order; a coupling that lacks its part of rho or p breaks the constraint.
TEST(RealTimeLinks, OrderOfTheStep) {
  const auto error = [](bool expanding, const char* integrator, double dt) {
    const auto result = run_text(electroweak(expanding, integrator, dt, false), {});
    const auto* series = result.find(expanding ? "mean(rho)/(3*frw.H^2) - 1" : "H");
    if (!series || series->points.empty()) return 0.0;
    double most = 0;
    for (const auto& [t, value] : series->points)
      most = std::max(most, std::abs(expanding ? value : value / series->points[0].second - 1));
    return most;
  };
  const double second = error(true, "leapfrog", 0.04) / error(true, "leapfrog", 0.02);
  EXPECT_NEAR(std::log2(second), 2, 0.1);
  for (const bool expanding : {false, true}) {
    const double fine = error(expanding, "yoshida4", 0.02);
    EXPECT_NEAR(std::log2(error(expanding, "yoshida4", 0.04) / fine), 4, 0.25) << expanding;
    EXPECT_LT(fine, 1e-5);
  }
}

// ---- SU(3)
// ---------------------------------------------------------------------------------------

TEST(RealTimeLinks, SU3WithATripletOfColour) {
  const auto result = run_text(R"(model colour "SU(3), a triplet and an octet"
lattice box: 4^3, spacing = 0.8
param g = 1
field phi, q: vec(3, complex)
field S, T: su(3)
gauge U: SU(3), E: su(3)
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
F[i] = (U[i]*S@i*adj(U[i]) - S)/dx
H = total(norm2(q) + norm2(T) + sum(norm2(D[i]) + norm2(F[i]), i) + norm2(phi)^2/4 + norm2(phi)*norm2(S) + (g*dx)^2*sum(norm2(E[i]), i) + 2*sum(3 - re(tr(P[i,j])), i < j)/(g^2*dx^4))
init U ~ hot, E = 0
init phi = [1, 0.5i, 0.2*sin(2*pi*index(x)/4)], q = 0.3*phi
init S = [[0.3, 0.1i, 0.2], [-0.1i, 0.1, 0], [0.2, 0, -0.4]], T = 0.5*S
precision real = f64
evolve yoshida4, dt = 0.01, until = t > 1
every 10 steps: max(abs(gauss)), H, mean(sum(norm2(E[i]), i)) -> "c.h5"
at end: from_group = max(abs(re(tr(adj(U[x])*U[x])) - 3)) -> "c.h5"
expect drift(H) < 1e-5
)",
                               {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 3e-13);
  EXPECT_GT(last(result, "mean(sum(norm2(E[i]), i))"), 0.1) << "nothing moved";
  EXPECT_LT(last(result, kFromGroup), 5e-29);
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
}

// ---- starts
// --------------------------------------------------------------------------------------

// Four random arrays, each read by two fields: the start takes them in turns.
TEST(RealTimeLinks, MomentaAlongADrawnDoubletHaveNoCharge) {
  const auto result = run_text(R"(model drawn "A doublet of vacuum fluctuations"
lattice box: 6^3, spacing = 0.5
gauge U: SU(2), E: su(2)
field phi, q: vec(2, complex)
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
H = total(norm2(q) + sum(norm2(D[i]), i) + norm2(phi)^2 + dx^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/dx^4)
init phi ~ [3, 0] + vacuum, q = 0.1*phi, U = 1, E = 0
precision real = f64
evolve leapfrog, dt = 0.01, until = t > 0.5
every 10 steps: max(abs(gauss)), var(phi[1]) -> "d.h5"
)",
                               {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-13);
  EXPECT_GT(last(result, "var(phi[1])"), 0.01) << "nothing was drawn";
}

}  // namespace
}  // namespace vphi
