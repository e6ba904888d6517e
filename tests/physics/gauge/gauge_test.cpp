// A written Hamiltonian in any metric; U(1) links with a charged scalar: Gauss's law to round-off,
// the lattice photon's dispersion.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

std::string scalar_model(const std::string& dynamics, const std::string& velocity) {
  return R"(model two "two ways to the same equations"
units reduced_planck
lattice box: 12^3, length = 6, boundary = periodic
metric frw(a), rho_r = 0.05
)" + dynamics +
         R"(
laplacian = iso27
init phi = 1 + 0.1*cos(2*pi*x/6), )" +
         velocity + R"( = -0.7 + 0.1*sin(2*pi*y/6)
precision real = f64
evolve leapfrog, dt = 0.01, until = t > 2
every 10 steps: a, frw.H, w, mean(rho)/(3*frw.H^2) - 1, mean(phi^2), max(phi) -> "a.h5"
)";
}

// mean(rho) = H/(a^3*sites), mean(p) = -d(H, a)/(3*a^2*sites): the potential's equations again.
TEST(Hamiltonian, InAnExpandingBoxIsThePotentialsModel) {
  const auto potential =
      run_text(scalar_model("field phi: real\npotential V = phi^2/2 + phi^4/8", "phi'"), {});
  const auto written =
      run_text(scalar_model("field phi, q: real\nH = total(q^2/(2*a^3) + a*norm2(grad(phi))/2 + "
                            "a^3*(phi^2/2 + phi^4/8))",
                            "q"),
               {});
  for (const char* name : {"a", "frw.H", "w", "mean(phi^2)", "max(phi)"}) {
    EXPECT_NEAR(last(written, name) / last(potential, name), 1, 1e-13) << name;
  }
  EXPECT_LT(std::abs(last(written, "mean(rho)/(3*frw.H^2) - 1")), 1e-5);
}

/// Charged matter and fields at the start, div E + 2 im(conj(phi)*pi) = 0 solved for im(pi).
std::string higgs(const std::string& metric, const std::string& a, const std::string& integrator) {
  return R"(model higgs "Abelian Higgs model, charged at the start"
units reduced_planck
lattice box: 10^3, spacing = 0.5
)" + metric +
         R"(
param e = 0.7
field phi, q: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
V = (norm2(phi) - 1)^2/2
el = (e*dx)^2*sum(E[i]^2, i)/(2*)" +
         a + R"() + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*)" + a + R"()
H = total(norm2(q)/)" +
         a + "^3 + " + a + "*sum(norm2(D[i]), i) + " + a + R"(^3*V + el)
charge = sum(E[i] - E[i]@-i, i)
init phi = 1.2 + 0.3*cos(2*pi*index(x)/10)
init E[k] = 0.4*sin(2*pi*index(x)/10)*(k == 0) + 0.3*cos(2*pi*index(y)/5)*(k == 1) + 0.2*(k == 2)
init U[k] = exp(0.3i*cos(2*pi*index(x)/10)*(k == 1))
init q = 0.1 - 0.5i*charge/phi
precision real = f64
evolve )" +
         integrator +
         R"(, dt = 0.05, until = t > 10
every 20 steps: max(abs(gauss)), max(abs(charge)), min(norm2(phi)) -> "g.h5"
)" + std::string(metric == "metric frw(a)" ? "" : "expect drift(H) < 1e-2\n");
}

TEST(Gauge, GaussLawToRoundOff) {
  for (const char* integrator : {"leapfrog", "position_verlet", "vv4"}) {
    for (const bool expanding : {false, true}) {
      const auto result = run_text(higgs(expanding ? "metric frw(a)" : "metric minkowski",
                                         expanding ? "a" : "1", integrator),
                                   {});
      double largest = 0, charge = 0;
      for (const auto& [t, value] : result.find("max(abs(gauss))")->points) {
        largest = std::max(largest, value);
      }
      for (const auto& [t, value] : result.find("max(abs(charge))")->points) {
        charge = std::max(charge, value);
      }
      EXPECT_GT(charge, 0.1) << "nothing to keep";
      EXPECT_LT(largest, 1e-13) << integrator << (expanding ? " in an expanding box" : "");
      if (!expanding) {
        for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
      }
    }
  }
}

// A weak wave of U[y] along x obeys the linear lattice equations:
// sin^2(omega dt/2) = dt^2/dx^2 sin^2(k dx/2).
TEST(Gauge, PhotonFollowsTheLatticeDispersion) {
  const double dt = 0.1, dx = 0.5, k = 2 * std::numbers::pi * 3 / (16 * dx);
  const double omega = 2 / dt * std::asin(dt / dx * std::sin(k * dx / 2));
  char number[40];
  std::snprintf(number, sizeof number, "%.17g", omega);
  const auto result = run_text(std::string(R"(model photon "A wave of links"
lattice box: 16 * 4 * 4, spacing = 0.5
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
H = total(dx^2*sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)/dx^4)
wave = 1e-6*cos(2*pi*3*index(x)/16)
init U[k] = exp(1i*wave*(k == 1)), E = 0
precision real = f64
evolve leapfrog, dt = 0.1, until = t > 20
every 10 steps: max(abs(im(U[1]) - wave*cos()") +
                                   number + R"(*t))), max(abs(gauss)) -> "p.h5"
)",
                               {});
  for (const auto& series : result.series) {
    ASSERT_GE(series.points.size(), 20u);
    // rounding of 1 - cos(1e-6) does not enter: forces are sines
    for (const auto& [t, value] : series.points) EXPECT_LT(value, 1e-16) << series.name << t;
  }
}

}  // namespace
}  // namespace vphi
