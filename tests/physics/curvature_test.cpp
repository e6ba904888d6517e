// Curvature of space-time in prescribed metrics, and of field space in written Hamiltonians: closed
// forms, and quantities that symmetries conserve.
#include <gtest/gtest.h>

#include <array>
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

// ---- F R/2 with F = 1 - xi phi^2, in its own frame ----------------------------------------------

constexpr double kXi = -1, kLambda = 1e-2, kPhi = 2, kRate = -0.02;

/// d/dN of phi and dphi/dt, N the e-folds:
///   3 F H^2 + 3 F' H = phi'^2/2 + V,   phi'' + 3 H phi' + V_phi = F_phi R/2,
///   -2 F H' = phi'^2 + F'' - H F',     R = 6 (H' + 2 H^2)
std::array<double, 2> by_efolds(const std::array<double, 2>& y) {
  const auto [phi, v] = y;
  const double F = 1 - kXi * phi * phi, slope = -2 * kXi * phi, second = -2 * kXi;
  const double V = kLambda * std::pow(phi, 4) / 4, force = kLambda * std::pow(phi, 3);
  const double b = 3 * slope * v;
  const double H = (-b + std::sqrt(b * b + 12 * F * (v * v / 2 + V))) / (6 * F);
  const double source = 6 * H * H - 1.5 / F * (v * v + second * v * v - H * slope * v);
  const double rate = (-3 * H * v - force + slope * source) / (1 + 1.5 * slope * slope / F);
  return {v / H, rate / H};
}

double phi_after(double efolds) {
  constexpr int kSteps = 20000;
  std::array<double, 2> y{kPhi, kRate};
  const double h = efolds / kSteps;
  const auto moved = [&](const std::array<double, 2>& k, double by) {
    return std::array{y[0] + by * k[0], y[1] + by * k[1]};
  };
  for (int i = 0; i < kSteps; ++i) {
    const auto a = by_efolds(y), b = by_efolds(moved(a, h / 2)), c = by_efolds(moved(b, h / 2));
    const auto d = by_efolds(moved(c, h));
    for (std::size_t j = 0; j < 2; ++j) y[j] += h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]);
  }
  return y[0];
}

TEST(NonMinimalCoupling, AgreesWithTheEquationsOfItsOwnFrame) {
  const auto run = [](double dt) {
    return run_text(R"(model nonminimal "an inflaton coupled to the curvature"
units reduced_planck
param lambda = 1e-2, xi = -1, phi0 = 2, v0 = -0.02
lattice box: 4^3, length = 10, boundary = periodic
metric frw(a)
field phi, p: real
F = 1 - xi*phi^2
G = (F + 6*xi^2*phi^2)/F^2
V = lambda*phi^4/4
H = total(p^2/(2*G*a^3) + a*G*norm2(grad(phi))/2 + a^3*V/F^2)
F0 = 1 - xi*phi0^2
init phi = phi0, p = (F0 + 6*xi^2*phi0^2)/F0^2*v0/sqrt(F0)
precision real = f64
evolve rk4, dt = )" + exact(dt) +
                        R"(, until = t > 200
at end: efolds = log(a) - mean(log(F/F0))/2, f = mean(phi), off = mean(rho)/(3*frw.H^2) - 1 -> "n.h5"
)",
                    {});
  };
  double before = 0, off_before = 0;
  for (const double dt : {0.4, 0.2}) {
    const auto result = run(dt);
    const double error = std::abs(last(result, "f") - phi_after(last(result, "efolds")));
    const double off = std::abs(last(result, "off"));
    EXPECT_GT(last(result, "efolds"), 3);
    EXPECT_LT(error, 2e-8) << dt;
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 4, 0.5);
      EXPECT_GT(std::log2(off_before / off), 3.5);
    }
    before = error, off_before = off;
  }
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
