// The rescaled (LATTICEEASY) form psi = A*a^r*phi: order, digits, the implicit a'' of the staggered
// step, agreement with the canonical form; initial values that need the Hubble rate.
// References: docs/formulas.md 1.2, 1.3 and 1.10; Taylor series with 30 digits.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

/// The quartic field of orders_test, form and integrator to choose.
double quartic(const std::string& rescale, const std::string& integrator, int steps) {
  const std::string model = R"(model quartic "homogeneous quartic field"
units reduced_planck
param phi0 = 5.6964/2.435
lattice box: 4^3, length = 1, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^4/4
)" + rescale + R"(
init phi = phi0, phi' = -0.5000004167*phi0^2
precision real = f64
evolve )" + integrator +
                            ", dt = " + exact(10.0 / steps) + "/phi0, until = step >= 1000000\n" +
                            "at end: a, H, mean(rho)/(3*H^2) - 1 -> \"a.h5\"\n";
  Simulation setup;
  setup.steps = steps;
  const auto result = run_text(model, setup);
  EXPECT_LT(std::abs(last(result, "mean(rho)/(3*H^2) - 1")), 3e-3);
  return last(result, "a");
}

TEST(Rescaled, OrderInTheScaleFactor) {
  constexpr double kScaleFactor = 10.07715690530765839;  // a(10), Taylor series
  const struct {
    const char* integrator;
    double order;
    int steps;
  } rows[] = {{"leapfrog", 2, 500},
              {"position_verlet", 2, 500},
              {"vv4", 4, 200},
              {"vv6", 6, 200},
              {"rk4", 4, 200}};
  for (const auto& row : rows) {
    const std::string form = "rescale auto(phi^4/4), form = rescaled";
    const double coarse = quartic(form, row.integrator, row.steps) - kScaleFactor;
    const double fine = quartic(form, row.integrator, 2 * row.steps) - kScaleFactor;
    EXPECT_NEAR(std::log2(std::abs(coarse / fine)), row.order, 0.15)
        << row.integrator << ": errors " << coarse << ' ' << fine;
  }
}

/// docs/formulas.md 1.3 step by step: the kick back by half a step, the implicit a'' by its
/// quadratic equation.
double staggered_leapfrog(double dt, int steps) {
  const double f = 5.6964 / 2.435, s = -1, r = 1, c1 = s + 2;
  double psi = 1, a = 1;
  const double rho = 0.5 * std::pow(0.5000004167, 2) + 0.25;  // of phi in units of phi0
  const double slope = std::sqrt(f * f * rho / 3);
  const auto second = [&](double d, double h) {
    const double S = f * f * std::pow(a, -2 * s - 2 * r - 1) * std::pow(a, 2 * s + 2) *
                     std::pow(a, -2 * s + 2 * r - 4 * r) * std::pow(psi, 4) / 4;
    const double u = c1 * h * (2 * d + h * S) / a;
    return (-2 * d + 2 * a / (c1 * h) * u / (1 + std::sqrt(1 + u))) / h;
  };
  const auto force = [&](double da, double dda) {
    return (r * (s - r + 2) * da * da / (a * a) + r * dda / a) * psi - std::pow(psi, 3);
  };
  double d = slope, v = -0.5000004167 + r * slope * psi;
  for (int step = 0; step < steps; ++step) {
    // the first kick is half a step long: it starts from a synchronised state
    const double h = step == 0 ? dt / 2 : dt;
    const double dda = second(d, h);
    v += h * force(d + h / 2 * dda, dda);
    d += h * dda;
    psi += dt * v;
    a += dt * d;
  }
  return a;
}

TEST(Rescaled, LeapfrogSolvesTheImplicitEquation) {
  for (const int steps : {100, 400}) {
    EXPECT_NEAR(quartic("rescale auto(phi^4/4), form = rescaled", "leapfrog", steps),
                staggered_leapfrog(10.0 / steps, steps), 1e-12)
        << steps;
  }
}

TEST(Rescaled, TheMissingPowerFollowsFromTheFriction) {
  const double full = quartic("rescale A = 1/phi0, B = phi0, r = 1, s = -1", "leapfrog", 500);
  for (const char* form : {"rescale A = 1/phi0, B = phi0, r = 1",
                           "rescale A = 1/phi0, B = phi0, s = -1, form = rescaled",
                           "rescale A = 1/phi0, B = phi0, r = 1, s = -1 where no_friction",
                           "rescale auto(phi^4/4) where no_friction"}) {
    EXPECT_EQ(quartic(form, "leapfrog", 500), full) << form;
  }
}

// docs/formulas.md 1.10, phi^2: t, a, H; s = 0, r = 3/2.
TEST(Rescaled, QuadraticTrajectory) {
  const auto result = run_text(R"(model quadratic "homogeneous massive field"
units reduced_planck
lattice box: 4^3, length = 1, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^2/2
rescale auto(phi^2/2), form = rescaled
init phi = 1.0093430384226378929, phi' = -0.7137133070120812431
precision real = f64
evolve vv8, dt = 1/16, until = t > 16.01
every 16 steps: a, H, mean(phi), mean(phi') -> "a.h5"
)",
                               {});
  const double rows[][3] = {{1, 1.473440630787, 2.827999270852e-1},
                            {4, 2.396249522117, 1.254470251873e-1},
                            {16, 5.060606500460, 3.781603353340e-2}};
  for (const auto& row : rows) {
    const auto i = static_cast<std::size_t>(row[0]);
    EXPECT_NEAR(result.find("a")->points.at(i).second, row[1], 1e-10 * row[1]);
    EXPECT_NEAR(result.find("H")->points.at(i).second, row[2], 1e-10 * row[2]);
  }
}

/// Two fields with gradients: both forms tend to the same state, at order 2.
TEST(Rescaled, AgreesWithTheCanonicalForm) {
  const auto run = [](const std::string& form, int steps) {
    Simulation setup;
    setup.steps = steps;
    return run_text(R"(model two "waves of two fields"
units reduced_planck
lattice box: 12^3, length = 6, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = phi^2/2 + 2*phi^2*chi^2
rescale )" + form + R"(
laplacian = iso27
init phi = 1 + 0.1*cos(2*pi*x/6), phi' = -0.7 + 0.1*sin(2*pi*y/6)
init chi = 0.2*sin(2*pi*z/6), chi' = 0.1*cos(2*pi*(x + y)/6)
precision real = f64
evolve leapfrog, dt = )" +
                        exact(2.0 / steps) +
                        R"(, until = step >= 100000
at end: a, H, mean(chi^2), mean(phi'^2), max(chi') -> "a.h5"
)",
                    setup);
  };
  const std::string rescaled = "A = 1, B = 1, r = 3/2, s = 0";
  const auto coarse = run(rescaled, 100), fine = run(rescaled, 200);
  const auto coarse_c = run("A = 1, B = 1", 100), fine_c = run("A = 1, B = 1", 200);
  for (const char* name : {"a", "H", "mean(chi^2)", "mean(phi'^2)", "max(chi')"}) {
    const double far = last(coarse, name) - last(coarse_c, name);
    const double near = last(fine, name) - last(fine_c, name);
    EXPECT_NEAR(far / near, 4, 0.3) << name;
    EXPECT_LT(std::abs(near), 1e-3 * std::abs(last(fine, name))) << name;
  }
}

// A velocity that holds H makes the constraint a quadratic equation for H: solved exactly.
TEST(InitialHubble, ConstraintHoldsAndTheVelocityIsAsWritten) {
  for (const char* form : {"rescale A = 2, B = 3, s = -1", "rescale A = 2, B = 3, r = 1"}) {
    Simulation setup;
    setup.steps = 0;
    const auto result = run_text(std::string(R"(model hub "a field at rest in comoving units"
units reduced_planck
lattice box: 12^3, length = 6, boundary = periodic
metric frw(a), rho_r = 0.1
field phi, chi, psi: real
potential V = phi^2/2 + phi^2*chi^2/2
)") + form + R"(
init phi = 1 + 0.1*cos(2*pi*x/6), phi' = -0.7 + 0.05*sin(2*pi*y/6)
init chi = 0.1*sin(2*pi*z/6), chi' = -H*chi + 0.01
init psi = 1, psi' = -chi' - H*psi
precision real = f64
evolve leapfrog, dt = 0.001, until = t > 1
every 1 step: H, mean(rho)/(3*H^2) - 1, max(abs(chi' + H*chi - 0.01)), max(abs(psi' + chi' + H*psi)),
              mean(phi') -> "a.h5"
)",
                                 setup);
    EXPECT_LT(std::abs(last(result, "mean(rho)/(3*H^2) - 1")), 1e-14) << form;
    EXPECT_LT(last(result, "max(abs(chi' + H*chi - 0.01))"), 1e-15) << form;
    EXPECT_LT(last(result, "max(abs(psi' + chi' + H*psi))"), 1e-15) << form;
    EXPECT_NEAR(last(result, "mean(phi')"), -0.7, 1e-14);
  }
}

}  // namespace
}  // namespace vphi
