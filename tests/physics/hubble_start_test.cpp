// Starts of momenta that need the Hubble rate, which their own energy gives: its quadratic equation
// solved in the test, the Friedmann equation and Gauss's law at the first output.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::refusal_of_text;
using testing::run_text;
using testing::Simulation;

/// The first output alone.
runtime::RunResult at_the_start(const std::string& text, const std::string& device = "native") {
  Simulation setup;
  setup.device = device;
  setup.steps = 0;
  return run_text(text, setup);
}

// 3 H^2 = (0.2 - H phi)^2/2 + phi^2/2 at phi = 0.3
TEST(HubbleStart, AMomentumOfAWrittenHamiltonian) {
  const auto result = at_the_start(R"(model scalar "a momentum that follows the expansion"
units reduced_planck
lattice box: 4^3, length = 10
metric frw(a)
field phi, p_phi: real
H = total(p_phi^2/(2*a^3) + a*norm2(grad(phi))/2 + a^3*phi^2/2)
init phi = 0.3, p_phi = 0.2 - frw.H*phi
evolve leapfrog, dt = 0.01, until = t > 1
precision real = f64
every 1 step: rate = frw.H, moving = mean(p_phi) -> "s.h5"
)");
  const double c2 = 3 - 0.045, c1 = 0.06, c0 = 0.02 + 0.045;
  const double rate = (-c1 + std::sqrt(c1 * c1 + 4 * c2 * c0)) / (2 * c2);
  EXPECT_NEAR(last(result, "rate"), rate, 1e-15);
  EXPECT_NEAR(last(result, "moving"), 0.2 - 0.3 * rate, 1e-15);
}

std::string charged_start(const std::string& momenta, const std::string& law) {
  return R"(model charged "charges of U(1) that follow the expansion"
units reduced_planck
param e = 0.5
lattice box: 6*4*4, spacing = 1
metric frw(a)
field phi, q: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
H_links = (e*dx)^2*sum(E[i]^2, i)/(2*a) + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*a)
H = total(norm2(q)/a^3 + a*sum(norm2(D[i]), i) + a^3*(norm2(phi) - 1)^2/4 + H_links)
drawn ~ normal
init phi = 0.3 + 0.1i*cos(2*pi*x/6), U = 1, E ~ normal, )" +
         momenta + law + R"(
evolve leapfrog, dt = 0.01, until = t > 0.2
precision real = f64
every 1 step: residual = mean(rho)/(3*frw.H^2) - 1, max(abs(gauss)) -> "c.h5"
every 1 step: tied = max(abs(q + frw.H*phi)), apart = max(abs(q + frw.H*phi - 0.1*drawn)) -> "c.h5"
)";
}

TEST(HubbleStart, ChargesFollowTheExpansionAndGaussLawHolds) {
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    const auto tied =
        at_the_start(charged_start("q = -frw.H*phi + 0*drawn", ", gauss = 0"), device);
    EXPECT_LT(std::fabs(last(tied, "residual")), 1e-13) << device;
    EXPECT_LT(last(tied, "max(abs(gauss))"), 1e-14) << device;
    EXPECT_LT(last(tied, "tied"), 1e-15) << device;
    const auto drawn =
        at_the_start(charged_start("q ~ -frw.H*phi + 0.1*drawn", ", gauss = 0"), device);
    EXPECT_LT(std::fabs(last(drawn, "residual")), 1e-13) << device;
    EXPECT_LT(last(drawn, "max(abs(gauss))"), 1e-14) << device;
    // the total charge of what is drawn is turned away, and nothing else is changed
    EXPECT_GT(last(drawn, "apart"), 1e-6) << device;
    EXPECT_LT(last(drawn, "apart"), 0.1) << device;
  }
  const auto open = at_the_start(charged_start("q = -frw.H*phi + 0*drawn", ""));
  EXPECT_GT(last(open, "max(abs(gauss))"), 1);
}

TEST(HubbleStart, DoubletsBesideHotLinks) {
  const auto result = at_the_start(R"(model doublets "hot links of SU(2), charges that follow"
units reduced_planck
lattice box: 4*2*2, spacing = 1
metric frw(a)
field phi, q: vec(2, complex)
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H_links = sum(norm2(E[i]), i)/a + 2*sum(2 - re(tr(P[i,j])), i < j)/a
H = total(norm2(q)/a^3 + a*sum(norm2(D[i]), i) + a^3*norm2(phi)^2/4 + H_links)
init phi = [0.4, 0.2i*cos(2*pi*x/4)], U ~ hot, E ~ normal, q = -frw.H*phi, gauss = 0
evolve leapfrog, dt = 0.01, until = t > 0.2
precision real = f64
every 1 step: residual = mean(rho)/(3*frw.H^2) - 1, max(abs(gauss)), moving = mean(norm2(q)) -> "d.h5"
every 1 step: following = mean(norm2(phi))*frw.H^2, along = mean(re(dot(phi, q))) + frw.H*mean(norm2(phi)) -> "d.h5"
)");
  EXPECT_LT(std::fabs(last(result, "residual")), 1e-12);
  EXPECT_LT(last(result, "max(abs(gauss))"), 1e-13);
  // the projection turns momenta across the field: their part along it is that of `init`
  EXPECT_GT(last(result, "moving"), last(result, "following") * (1 + 1e-6));
  EXPECT_LT(std::fabs(last(result, "along")), 1e-12);
}

TEST(HubbleStart, WhatHasChargesOfItsOwnIsRefused) {
  const std::string why = refusal_of_text(charged_start("q = -1i*frw.H*phi", ", gauss = 0"));
  EXPECT_NE(why.find("E0895"), std::string::npos) << why;
  EXPECT_NE(why.find("what H adds to the momenta at the start has charges of its own"),
            std::string::npos)
      << why;
  const std::string squared = refusal_of_text(charged_start("q = -frw.H^2*phi", ", gauss = 0"));
  EXPECT_NE(squared.find("not a number plus H times another"), std::string::npos) << squared;
}

}  // namespace
}  // namespace vphi
