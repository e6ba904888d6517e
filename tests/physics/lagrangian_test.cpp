// `lagrangian L = ...`: equations, rho and p against those of a potential, of a written
// Hamiltonian, of equations by hand, and against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

std::string box(const std::string& body, const std::string& evolve) {
  const std::string units = body.find("metric frw(a)") == 0 ? "units reduced_planck\n" : "";
  return "model m \"a Lagrangian\"\n" + units +
         "lattice box: 8^3, length = 5, boundary = periodic\n" + body +
         "\nprecision real = f64\nevolve " + evolve + "\n";
}

const char* const kPlaneWaves = "sin(2*pi*x/5)*cos(2*pi*(y + z)/5)";

// The kinetic term of a potential, written out: the same equations and the same expansion, with an
// integrator that splits kick and drift.
TEST(Lagrangian, OfAPotentialHasItsEquations) {
  const std::string init = std::string("init phi = 1 + 0.1*") + kPlaneWaves +
                           ", phi' = -0.1, psi = (0.3 + 0.2*1i)*" + kPlaneWaves + ", psi' = 0.1*1i";
  const std::string fields = "metric frw(a)\nfield phi: real\nfield psi: complex\n";
  const std::string v = "phi^4/4 + norm2(psi)*phi^2 + norm2(psi)^2";
  const std::string out =
      "\nat end: t, a, f = mean(phi), g = mean(norm2(psi)), e = mean(rho), q = mean(p) -> \"m.h5\"";
  const auto given = run_text(
      box(fields + "potential V = " + v + "\n" + init + out, "vv4, dt = 0.01, until = step >= 50"),
      {});
  const auto written =
      run_text(box(fields + "V = " + v +
                       "\nlagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 + norm2(psi')\n"
                       "lagrangian W = -norm2(grad(psi))/a^2 - V\n" +
                       init + out,
                   "vv4, dt = 0.01, until = step >= 50"),
               {});
  for (const char* name : {"t", "a", "f", "g", "e", "q"})
    EXPECT_NEAR(last(written, name), last(given, name), 1e-13 * std::abs(last(given, name)))
        << name;
}

// Two fields on a hyperbolic plane with gradients: L against the Hamiltonian of the same theory, in
// a box that expands with their averages. Both converge to one another with the integrator's order.
TEST(Lagrangian, WithAMetricOfFieldsAgreesWithItsHamiltonian) {
  const std::string end =
      "\nat end: t, a, hubble = frw.H, f = mean(phi), g = mean(chi^2), e = mean(rho) -> \"m.h5\"";
  const std::string start = std::string("phi = 0.3*") + kPlaneWaves + ", chi = 0.2*" + kPlaneWaves;
  const auto off = [&](double dt) {
    const std::string evolve = "rk4, dt = " + exact(dt) + ", until = t > 0.999";
    const auto h = run_text(
        box("metric frw(a)\nfield phi, p, chi, q: real\nG = exp(1.6*phi)\n"
            "H = total((p^2 + q^2/G)/(2*a^3) + a*(norm2(grad(phi)) + G*norm2(grad(chi)))/2 + "
            "a^3*chi^2/2)\ninit " +
                start + ", p = 0.5, q = 0.8*G" + end,
            evolve),
        {});
    const auto l = run_text(box("metric frw(a)\nfield phi, chi: real\nG = exp(1.6*phi)\n"
                                "lagrangian L = (phi'^2 - norm2(grad(phi))/a^2)/2 + G*(chi'^2 - "
                                "norm2(grad(chi))/a^2)/2 - chi^2/2\ninit " +
                                    start + ", phi' = 0.5, chi' = 0.8" + end,
                                evolve),
                            {});
    double most = 0;
    for (const char* name : {"a", "hubble", "f", "g", "e"})
      most = std::max(most, std::abs(last(l, name) / last(h, name) - 1));
    return most;
  };
  const double coarse = off(0.04), fine = off(0.02);
  EXPECT_LT(coarse, 1e-4);
  EXPECT_LT(fine, coarse / 11);
}

// phi'' + (G'/(2 G)) phi'^2 with a kinetic term of one field is a free field in the coordinate
// ds = sqrt(G) dphi: G = phi^2 has s = phi^2/2.
TEST(Lagrangian, ACoordinateOfAFreeFieldIsFree) {
  const auto result =
      run_text(box("field phi: real\nlagrangian L = phi^2*(phi'^2 - norm2(grad(phi)))/2 - phi^4/8\n"
                   "init phi = 2, phi' = 0.25\n"
                   "at end: t, s = mean(phi^2/2), energies -> \"m.h5\"",
                   "rk4, dt = 0.005, until = t > 0.999"),
               {});
  // L = s'^2/2 - s^2/2
  const double t = last(result, "t");
  EXPECT_NEAR(last(result, "s"), 2 * std::cos(t) + 0.5 * std::sin(t), 1e-10);
  EXPECT_NEAR(last(result, "kinetic") + last(result, "gradient") + last(result, "potential"), 2.125,
              1e-10);
}

// Double pendulum, whose mass matrix depends on the angles, against its textbook equations.
TEST(Lagrangian, OfADoublePendulum) {
  const auto result = run_text(
      "model m \"double pendulum\"\nvar x, y: real\n"
      "lagrangian L = x'^2 + y'^2/2 + x'*y'*cos(x - y) + 2*cos(x) + cos(y)\n"
      "init x = 1, x' = 0, y = 2, y' = 0.3\nprecision real = f64\n"
      "evolve rk4, dt = 0.001, until = t > 2.9999\nat end: t, x, y -> \"m.csv\"\n",
      {});
  using State = std::array<double, 4>;  // x, y, x', y'
  const auto rate = [](const State& s) {
    const double d = s[0] - s[1], c = std::cos(d), n = std::sin(d);
    const double f = -s[3] * s[3] * n - 2 * std::sin(s[0]), g = s[2] * s[2] * n - std::sin(s[1]);
    const double det = 2 - c * c;
    return State{s[2], s[3], (f - c * g) / det, (2 * g - c * f) / det};
  };
  State s{1, 2, 0, 0.3};
  const double h = last(result, "t") / 6000;
  for (int i = 0; i < 6000; ++i) {
    const auto to = [&](const State& k, double by) {
      State out = s;
      for (std::size_t j = 0; j < 4; ++j) out[j] += by * k[j];
      return out;
    };
    const State a = rate(s), b = rate(to(a, h / 2)), c = rate(to(b, h / 2)), d = rate(to(c, h));
    for (std::size_t j = 0; j < 4; ++j) s[j] += h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]);
  }
  EXPECT_NEAR(last(result, "x"), s[0], 1e-9);
  EXPECT_NEAR(last(result, "y"), s[1], 1e-9);
}

// Terms linear in velocities: a charge in a magnetic field goes round with the frequency B.
TEST(Lagrangian, OfAChargeInAMagneticField) {
  const auto result = run_text(
      "model m \"cyclotron\"\nparam B = 3\nvar x, y: real\n"
      "lagrangian L = (x'^2 + y'^2)/2 + B*x*y'\ninit x = 0, x' = 1, y = 0, y' = 0\n"
      "precision real = f64\nevolve rk4, dt = 0.002, until = t > 1.9999\n"
      "at end: t, x, y -> \"m.csv\"\n",
      {});
  const double t = last(result, "t");
  EXPECT_NEAR(last(result, "x"), std::sin(3 * t) / 3, 1e-9);
  EXPECT_NEAR(last(result, "y"), -(1 - std::cos(3 * t)) / 3, 1e-9);
}

// The same where space expands: d(a^3 p)/dt has 3 H b beside 3 H u', and neighbours in b. By hand:
//   phi'' = lap(phi)/a^2 - 3 H phi' + b chi',  chi'' = lap(chi)/a^2 - 3 H chi' - b phi' - 3 H b phi
TEST(Lagrangian, LinearTermsWhereSpaceExpands) {
  const std::string head = "metric frw(a = (1 + t)^(2/3))\nparam b = 0.7\nfield phi, chi: real\n";
  const std::string tail = std::string("init phi = 1 + 0.2*") + kPlaneWaves +
                           ", phi' = 0.1, chi = " + kPlaneWaves +
                           ", chi' = 0\nat end: f = mean(phi), g = mean(phi*chi), h = var(chi) -> "
                           "\"m.h5\"";
  const std::string evolve = "rk4, dt = 0.01, until = step >= 100";
  const auto derived = run_text(
      box(head +
              "lagrangian L = (phi'^2 + chi'^2 - (norm2(grad(phi)) + norm2(grad(chi)))/a^2)/2 + "
              "b*phi*chi'\n" +
              tail,
          evolve),
      {});
  const auto hand = run_text(box(head +
                                     "phi'' = lap(phi)/a^2 - 3*H*phi' + b*chi'\n"
                                     "chi'' = lap(chi)/a^2 - 3*H*chi' - b*phi' - 3*H*b*phi\n" +
                                     tail,
                                 evolve),
                             {});
  for (const char* name : {"f", "g", "h"})
    EXPECT_NEAR(last(derived, name), last(hand, name), 1e-12) << name;
}

// P(X) = X + X^2 with X = (phi'^2 - |grad phi|^2)/2: the mass is a function of velocities and
// gradients. Energy is conserved with the integrator's order, and the total momentum exactly, as
// P does not hold phi.
TEST(Lagrangian, OfKineticTermsThatAreNotQuadratic) {
  const auto run = [](double dt) {
    return run_text(
        "model m \"P(X)\"\nlattice line: 32, length = 5, boundary = periodic\nfield phi: real\n"
        "X = (phi'^2 - norm2(grad(phi)))/2\nlagrangian L = X + X^2\n"
        "init phi = 0.2*sin(2*pi*x/5), phi' = 0.6 + 0.2*cos(2*pi*x/5)\nprecision real = f64\n"
        "evolve rk4, dt = " +
            exact(dt) +
            ", until = t > 1.999\nevery 1 step: t, e = mean(phi'^2*(1 + 2*X) - X - X^2), "
            "k = mean(phi'*(1 + 2*X)) -> \"m.h5\"\n",
        {});
  };
  const auto drift = [](const runtime::RunResult& r, const char* name) {
    const auto found = std::ranges::find(r.series, name, &runtime::Series::name);
    if (found == r.series.end() || found->points.empty()) return 1.0;
    return std::abs(last(r, name) - found->points.front().second);
  };
  const auto coarse = run(0.08), fine = run(0.04);
  EXPECT_LT(drift(coarse, "e"), 1e-6);
  EXPECT_LT(drift(fine, "e"), drift(coarse, "e") / 12);
  EXPECT_LT(drift(fine, "k"), drift(coarse, "k") / 12 + 1e-14);
}

// `derived` is what the Lagrangian gives; a field of its own equation may stand in it.
TEST(Lagrangian, DerivedAndFieldsOfTheirOwn) {
  const std::string tail = std::string("init phi = ") + kPlaneWaves +
                           ", phi' = 0, s = 1, s' = 0.1\n" +
                           "at end: f = mean(phi^2), g = mean(s) -> \"m.h5\"";
  const std::string evolve = "rk4, dt = 0.01, until = step >= 100";
  const auto derived = run_text(
      box("field phi, s: real\nlagrangian L = (s^2*phi'^2 - norm2(grad(phi)))/2 - phi^2/2\n"
          "phi'' = derived - 0.3*phi'\ns'' = -s\n" +
              tail,
          evolve),
      {});
  const auto hand =
      run_text(box("field phi, s: real\nphi'' = (lap(phi) - phi - 2*s*s'*phi')/s^2 - 0.3*phi'\n"
                   "s'' = -s\n" +
                       tail,
                   evolve),
               {});
  for (const char* name : {"f", "g"})
    EXPECT_NEAR(last(derived, name), last(hand, name), 1e-12) << name;
}

}  // namespace
}  // namespace vphi
