// Curvature of space-time in prescribed metrics, and of field space in written Hamiltonians: closed
// forms, and quantities that symmetries conserve.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

constexpr int kSites = 16, kWaves = 2;

struct ScaleFactor {
  const char* text;
  std::function<double(double)> a, hubble_rate;  ///< and H' of it
};

const ScaleFactor kScales[] = {
    {"(1 + 2*t)^(1/2)", [](double t) { return std::sqrt(1 + 2 * t); },
     [](double t) { return -2 / ((1 + 2 * t) * (1 + 2 * t)); }},
    {"exp(0.7*t)", [](double t) { return std::exp(0.7 * t); }, [](double) { return 0.0; }},
    {"1 + sin(3*t)/5", [](double t) { return 1 + std::sin(3 * t) / 5; },
     [](double t) {
       const double s = std::sin(3 * t), below = 5 + s;
       return -9 * (5 * s + 1) / (below * below);
     }},
};

std::string conformal(const ScaleFactor& scale, double dt, const std::string& rescale) {
  return R"(model conformal "xi = 1/6"
lattice line: )" +
         std::to_string(kSites) + R"(, length = 2*pi, boundary = periodic
metric frw(a = )" +
         scale.text + R"()
field chi: real
R = 6*(H' + 2*H^2)
chi'' = lap(chi)/a^2 - 3*H*chi' - R*chi/6
wave = cos()" +
         std::to_string(kWaves) + R"(*x)
)" + rescale +
         R"(init chi = wave, chi' = -H*wave
evolve leapfrog, dt = )" +
         exact(dt) + R"(, until = t > 2
precision real = f64
at end: t, a, rate = H', f = 2*a*mean(chi*wave), g = 2*a^2*mean((chi' + H*chi)*wave) -> "c.h5"
)";
}

/// Integral of 1/a from 0 to t by Simpson's rule.
double conformal_time(const ScaleFactor& scale, double t) {
  constexpr int kSteps = 20000;
  double sum = 1 / scale.a(0) + 1 / scale.a(t);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 0 ? 2 : 4) / scale.a(t * i / kSteps);
  return sum * t / kSteps / 3;
}

// (a chi) obeys (a chi)_eta,eta = lap(a chi) where R/6 is the mass squared: a flat wave whatever a
// is. omega is that of the stencil.
TEST(ConformalCoupling, AFieldDoesNotFeelTheExpansion) {
  const double dx = 2 * std::numbers::pi / kSites;
  const double omega = 2 / dx * std::sin(kWaves * dx / 2);
  for (const ScaleFactor& scale : kScales)
    for (const char* rescale : {"", "rescale A = 1, B = 2, s = -1\n", "rescale s = 1/2\n"}) {
      const auto off = [&](double dt) {
        const auto result = run_text(conformal(scale, dt, rescale), {});
        const double t = last(result, "t");
        EXPECT_NEAR(last(result, "a"), scale.a(t), 1e-12 * scale.a(t));
        EXPECT_NEAR(last(result, "rate"), scale.hubble_rate(t), 1e-12) << scale.text;
        const double phase = omega * conformal_time(scale, t);
        return std::hypot(last(result, "f") - std::cos(phase),
                          last(result, "g") / omega + std::sin(phase));
      };
      const double coarse = off(0.02), fine = off(0.01);
      EXPECT_LT(coarse, 2e-3) << scale.text << " " << rescale;
      EXPECT_LT(fine, coarse / 3) << scale.text << " " << rescale;
    }
}

// exp(2 b phi) makes field space a hyperbolic plane. The shifts chi -> chi + c and
// (phi, chi) -> (phi + c, chi exp(-b c)) leave H unchanged, gradients included, so p_chi and
// p_phi - b chi p_chi are conserved.
TEST(FieldSpace, IsometriesConserveTheirCharges) {
  const auto run = [](double dt) {
    return run_text(R"(model hyperbolic "waves on a hyperbolic plane"
param b = 0.8
lattice box: 8^2, length = 8, boundary = periodic
field phi, p_phi, chi, p_chi: real
G = exp(2*b*phi)
H = total((p_phi^2 + p_chi^2/G)/2 + (norm2(grad(phi)) + G*norm2(grad(chi)))/2)
init phi = 0.3*sin(2*pi*x/8), p_phi = 0.2*cos(2*pi*y/8), chi = 0.4*cos(2*pi*(x + y)/8), p_chi = 0.5 + 0.1*sin(2*pi*x/8)
precision real = f64
evolve rk4, dt = )" + exact(dt) +
                        R"(, until = t > 3.99
at end: t, shift = total(p_chi), other = total(p_phi - b*chi*p_chi), energy = H -> "h.h5"
)",
                    {});
  };
  const double start_shift = 32, dt = 0.02;
  const auto coarse = run(dt), fine = run(dt / 2);
  EXPECT_NEAR(last(fine, "shift"), start_shift, 1e-11);
  // against the finest run: the fourth order of the integrator, for charge and energy
  const auto finest = run(dt / 8);
  for (const char* name : {"other", "energy"}) {
    const double end = last(finest, name);
    const double first = std::abs(last(coarse, name) - end);
    EXPECT_LT(first, 1e-5) << name;
    EXPECT_LT(std::abs(last(fine, name) - end), first / 10) << name;
  }
  // sum over the box of p_phi - b chi p_chi at t = 0: the plain waves have no mean, and the product
  // of the waves of chi and p_chi has none either
  EXPECT_NEAR(last(finest, "other"), 0, 1e-8);
}

// A fluid of pressure w*rho is a term a^(-3(1 + w)) of the potential, here stiff matter, radiation,
// matter and a cosmological constant, against H^2 = sum of all alone.
TEST(Fluids, AreTermsOfThePotential) {
  const auto result = run_text(R"(model fluids "four fluids"
units reduced_planck
lattice box: 4^3, length = 4, boundary = periodic
metric frw(a)
field phi: real
potential fluids = 3*(0.1/a^6 + 0.3/a^4 + 0.2/a^3 + 0.4)
init phi = 0
precision real = f64
evolve vv6, dt = 0.005, until = t > 1.5
at end: t, a, H, w -> "f.h5"
)",
                               {});
  const auto density = [](double a) {
    return 0.1 / std::pow(a, 6) + 0.3 / std::pow(a, 4) + 0.2 / std::pow(a, 3) + 0.4;
  };
  const auto rate = [&](double a) { return a * std::sqrt(density(a)); };
  const double t = last(result, "t");
  constexpr int kSteps = 20000;
  const double h = t / kSteps;
  double a = 1;
  for (int i = 0; i < kSteps; ++i) {
    const double k1 = rate(a), k2 = rate(a + h / 2 * k1), k3 = rate(a + h / 2 * k2);
    a += h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(a + h * k3));
  }
  EXPECT_NEAR(last(result, "a") / a, 1, 1e-9);
  EXPECT_NEAR(last(result, "H") / std::sqrt(density(a)), 1, 1e-9);
  const double p = 0.1 / std::pow(a, 6) + 0.1 / std::pow(a, 4) - 0.4;
  EXPECT_NEAR(last(result, "w"), p / density(a), 1e-8);
}

}  // namespace
}  // namespace vphi
