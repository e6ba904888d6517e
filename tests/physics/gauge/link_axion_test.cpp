// A field phi that couples to F F~ of links of U(1), by a Hamiltonian in which the momentum E of
// the links holds the source of the field: g dx E = A' + alpha phi B, with B the mean of the four
// loops around a site. This B is that of a central difference, the loops of the energy are those of
// a forward one, so that at a constant rate b = alpha phi' a wave along an axis obeys A'' = (+- b
// k2 - k1^2) A, k1 = 2 sin(q dx/2)/dx, k2 = sin(q dx)/dx; in the continuum the rate is sqrt(k (b -
// k)) (Anber and Sorbo, Phys. Rev. D 81 (2010) 043534). Gauss's law holds for E, so that A' alone
// has the source -alpha div(phi B).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::largest;
using testing::last;

constexpr double kRate = 1.5, kSize = 0.25, kEnd = 6, kCharge = 0.8;
constexpr int kLength = 64;

/// Each instance is a wave of a number around the box and a helicity; `ratio` is the mean of the
/// square of links over that at the start, at kEnd.
std::string waves_of_links() {
  return fmt::format(R"(model rolling "Links beside a field that rolls"
param b = {}, e = {}
sweep waves = [1, 3, 5]
sweep helicity = [-1, 1]
lattice box: 2 * 2 * {}, spacing = {}, boundary = periodic
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
C[i,j] = im(P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i))/(4*e*dx^2)
B = [C[y,z], C[z,x], C[x,y]]
electric[i] = e*dx*E[i] - b*t*(B[i] + B[i]@i)/2
H = total(sum(electric[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4))
q = 2*pi*waves/({}*{})
wave = 1e-6*[cos(q*z), helicity*sin(q*z), 0]
init U[i] = exp(1i*wave[i]), E = 0
evolve rk4, dt = 0.01, until = t > {}
precision real = f64
square = (im(U[x])^2 + im(U[y])^2)/1e-12
broken = max(abs(gauss))/max(abs(E[x]))
at end: t, ratio = mean(square), spread = max(square) - min(square), broken -> "a.h5"
)",
                     kRate, kCharge, kLength, kSize, kLength, kSize, kEnd - 0.005);
}

TEST(LinkAxion, MakesLinksOfOneHelicityGrow) {
  const auto result = testing::run_text(waves_of_links(), {});
  const auto value = [&](const char* name, std::size_t instance) {
    const auto* series = result.find(name);
    return series && !series->values.empty() ? series->values.back()[instance] : std::nan("");
  };
  std::size_t instance = 0;
  for (const int waves : {1, 3, 5}) {
    const double q = 2 * std::numbers::pi * waves / (kLength * kSize);
    const double forward = 2 * std::sin(q * kSize / 2) / kSize,
                 central = std::sin(q * kSize) / kSize;
    for (const int helicity : {-1, 1}) {
      const double square = helicity * kRate * central - forward * forward;
      const double turned = std::sqrt(std::abs(square)) * kEnd;
      const double expected = std::pow(square > 0 ? std::cosh(turned) : std::cos(turned), 2);
      ASSERT_EQ(square > 0, helicity > 0 && waves < 4) << "what grows";
      EXPECT_NEAR(value("ratio", instance), expected, 1e-5 * std::max(expected, 1.0)) << instance;
      EXPECT_LT(value("spread", instance), 1e-8 * std::max(expected, 1.0)) << instance;
      EXPECT_LT(value("broken", instance), 1e-14) << instance;
      ++instance;
    }
  }
}

/// An axion, a charged field and links in an expanding box up to t = 2. Eight rounds of the
/// iteration of the midpoint leave (dt k/2)^8 of its equation, and it keeps what is quadratic in
/// the fields.
std::string with_charges(double dt) {
  std::string step = "integrator midpoint(x' = f(x, t)) {\n  k = x + dt/2*f(x, t + dt/2)\n";
  for (int i = 0; i < 7; ++i) step += "  k = x + dt/2*f(k, t + dt/2)\n";
  return R"(model charged "An axion, photons and charges"
units reduced_planck
metric frw(a)
param alpha = 4, m = 0.5, e = 0.8
lattice box: 4 * 6 * 4, spacing = 0.5, boundary = periodic
field phi, q: real, chi, k: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
C[i,j] = im(P[i,j] + loop(j, -i, -j, i) + loop(-i, -j, i, j) + loop(-j, i, j, -i))/(4*e*dx^2)
B = [C[y,z], C[z,x], C[x,y]]
source[i] = alpha*(phi*B[i] + (phi*B[i])@i)/2
electric[i] = e*dx*E[i] - source[i]
D[i] = (U[i]*chi@i - chi)/dx
matter = (q^2/2 + norm2(k))/a^3 + a*(norm2(grad(phi))/2 + sum(norm2(D[i]), i)) + a^3*m^2*phi^2/2
photons = sum(electric[i]^2, i)/(2*a) + sum(1 - re(P[i,j]), i < j)/(e^2*dx^4*a)
H = total(matter + photons)
init phi = 1 + 0.2*cos(pi*x), q = -1, chi = 0.3 + 0.1i*cos(2*pi*y/3)
init k ~ normal(0, 0.1) + 1i*normal(0, 0.1)
init U[i] = exp(0.2i*cos(pi*(x + z) + 2*pi*y/3)), E = 0, gauss = 0
precision real = f64
charge = (-1)*2*e*im(conj(chi)*k)
of_photons = sum(electric[i] - electric[i]@-i, i)/dx
of_axion = sum(source[i] - source[i]@-i, i)/dx
every 1 step: law = max(abs(of_photons + of_axion - charge)), axion = max(abs(of_axion)) -> "c.h5"
every 1 step: charges = max(abs(charge)), closure = mean(rho)/(3*frw.H^2) - 1 -> "c.h5"
)" + fmt::format("evolve midpoint, dt = {}, until = t > {}\n", dt, 2 - dt / 2) +
         step + "  x = 2*k - x\n}\n";
}

TEST(LinkAxion, GaussLawHasTheSourceOfTheAxionAndTheEnergyClosesTheMetric) {
  const auto coarse = testing::run_text(with_charges(0.02), {});
  const auto fine = testing::run_text(with_charges(0.01), {});
  EXPECT_GT(largest(fine, "axion"), 1e-2);
  EXPECT_GT(largest(fine, "charges"), 1e-2);
  EXPECT_LT(largest(fine, "law"), 1e-12);
  EXPECT_LT(std::abs(last(fine, "closure")), 1e-3);
  EXPECT_NEAR(last(coarse, "closure") / last(fine, "closure"), 4, 0.3);
}

}  // namespace
}  // namespace vphi
