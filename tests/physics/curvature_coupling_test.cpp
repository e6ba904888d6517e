// f(u)*R in a Lagrangian where the metric follows the averages: the reaction on the metric against
// the equations of a homogeneous field, against a trace that vanishes, and the constraint.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

std::string coupled(const std::string& body, const std::string& evolve) {
  return "model coupled \"a field that couples to the curvature\"\nunits reduced_planck\n"
         "lattice box: 4^3, length = 5, boundary = periodic\n"
         "R = 6*(H' + 2*H^2)\n" +
         body + "\nprecision real = f64\nevolve " + evolve + "\n";
}

// ---- a homogeneous field
// ------------------------------------------------------------------------

constexpr double kQuartic = 0.3;

/// phi, phi', H, log(a) of V = lambda phi^4/4, from the trace of Einstein's equations:
/// R (1 + (6 xi - 1) xi phi^2) = 4 V - 6 xi phi V' + (6 xi - 1) phi'^2, H' = R/6 - 2 H^2.
struct Homogeneous {
  double xi = 0;
  std::array<long double, 4> y{};

  long double curvature(const std::array<long double, 4>& s) const {
    const long double phi = s[0], v = s[1], six = 6 * xi - 1;
    const long double potential = kQuartic * phi * phi * phi * phi / 4;
    const long double slope = kQuartic * phi * phi * phi;
    return (4 * potential - 6 * xi * phi * slope + six * v * v) / (1 + six * xi * phi * phi);
  }
  std::array<long double, 4> rate(const std::array<long double, 4>& s) const {
    const long double r = curvature(s);
    return {s[1], -3 * s[2] * s[1] - kQuartic * s[0] * s[0] * s[0] - xi * r * s[0],
            r / 6 - 2 * s[2] * s[2], s[2]};
  }
  /// H of 3 H^2 = v^2/2 + V + 3 xi (H^2 phi^2 + 2 H phi v).
  void start(double phi, double v) {
    const double lead = 3 * (1 - xi * phi * phi), middle = -6 * xi * phi * v;
    const double rest = v * v / 2 + kQuartic * std::pow(phi, 4) / 4;
    y = {phi, v, (-middle + std::sqrt(middle * middle + 4 * lead * rest)) / (2 * lead), 0};
  }
  void advance(double t, int steps) {
    const long double h = static_cast<long double>(t) / steps;
    for (int i = 0; i < steps; ++i) {
      const auto along = [&](const std::array<long double, 4>& k, long double by) {
        auto s = y;
        for (std::size_t j = 0; j < s.size(); ++j) s[j] += by * k[j];
        return s;
      };
      const auto k1 = rate(y), k2 = rate(along(k1, h / 2)), k3 = rate(along(k2, h / 2)),
                 k4 = rate(along(k3, h));
      for (std::size_t j = 0; j < y.size(); ++j)
        y[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
    }
  }
};

TEST(CurvatureCoupling, AHomogeneousFieldActsOnTheMetric) {
  for (const double xi : {-2.0, 0.1, 1.0 / 6}) {
    const auto result =
        run_text(coupled("param xi = " + exact(xi) + ", lambda = " + exact(kQuartic) +
                             "\nmetric frw(a)\nfield phi: real\nV = lambda*phi^4/4\n"
                             "lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 - xi*R*phi^2/2 - V\n"
                             "init phi = 1.3, phi' = -0.2\n"
                             "at end: t, f = mean(phi), v = mean(phi'), frw.H, n = log(a), r = R, "
                             "trace = mean(rho - 3*p) -> \"c.h5\"\n"
                             "every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> \"c.h5\"",
                         "dormand_prince5, dt = 0.004, until = t > 3.999"),
                 {});
    Homogeneous own{xi, {}};
    own.start(1.3, -0.2);
    own.advance(last(result, "t"), 40000);
    const auto near = [&](const char* name, long double expected) {
      EXPECT_NEAR(last(result, name), static_cast<double>(expected),
                  1e-10 * std::abs(expected) + 1e-14)
          << name << " xi = " << xi;
    };
    near("f", own.y[0]), near("v", own.y[1]), near("frw.H", own.y[2]), near("n", own.y[3]);
    near("r", own.curvature(own.y));
    near("trace", own.curvature(own.y));
    EXPECT_NEAR(result.find("off")->points.front().second, 0, 1e-14);
    EXPECT_NEAR(last(result, "off"), 0, 1e-10);
  }
}

// ---- with gradients
// -----------------------------------------------------------------------------

// A massless field with xi = 1/6 and radiation have no trace: R = 0, a^2 = 1 + 2 H0 t, however
// large the field is.
TEST(CurvatureCoupling, AConformalFieldExpandsTheBoxAsRadiationDoes) {
  for (const char* rescale : {"", "rescale A = 2, B = 3, s = -1\n"}) {
    const auto result = run_text(
        coupled(std::string("metric frw(a), rho_r = 0.5\n") + rescale +
                    "field chi: real\n"
                    "lagrangian L = (chi'^2 - norm2(grad(chi))/a^2)/2\n"
                    "lagrangian S = -R*chi^2/12\n"
                    "init chi = 0.9*sin(2*pi*index(x)/4), chi' = 0.4*cos(2*pi*index(y)/4)\n"
                    "every 1 step: t, a, frw.H, r = R, rho_chi = mean(rho) - 0.5/a^4 -> \"c.h5\"",
                "rk4, dt = 0.005, until = t > 1.999"),
        {});
    const double h0 = result.find("frw.H")->points.front().second;
    EXPECT_GT(result.find("rho_chi")->points.front().second, 0.2) << "the field weighs nothing";
    EXPECT_NEAR(std::pow(last(result, "a"), 2), 1 + 2 * h0 * last(result, "t"), 1e-8);
    EXPECT_NEAR(last(result, "r"), 0, 1e-8);
  }
}

// The constraint with gradients, two fields and a coupling of both: of the integrator's order.
TEST(CurvatureCoupling, TheConstraintDriftsByTheOrder) {
  const auto off = [](double dt) {
    const auto result = run_text(
        coupled(
            "metric frw(a)\nfield phi, chi: real\nV = phi^2/2 + 0.3*phi^2*chi^2\n"
            "lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 + (1 + phi^2)*(chi'^2 - "
            "norm2(grad(chi))/a^2)/2 - V + (0.2*phi*chi - 0.3*phi^2)*R/2\n"
            "init phi = 0.8 + 0.2*sin(2*pi*index(x)/4), phi' = -0.2\n"
            "init chi = 0.3*cos(2*pi*index(y)/4), chi' = 0.3\n"
            "every 1 step: off = mean(rho)/(3*frw.H^2) - 1, rho = mean(rho), energies -> \"c.h5\"",
            "rk4, dt = " + exact(dt) + ", until = t > 1.9999"),
        {});
    const double parts =
        last(result, "kinetic") + last(result, "gradient") + last(result, "potential");
    EXPECT_NEAR(parts, last(result, "rho"), 1e-13);
    double most = 0;
    for (const auto& [t, value] : result.find("off")->points)
      most = std::max(most, std::abs(value));
    return most;
  };
  const double coarse = off(0.04), fine = off(0.02);
  EXPECT_LT(fine, 1e-5);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.4);
}

}  // namespace
}  // namespace vphi
