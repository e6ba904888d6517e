// A box that expands with its own averages: potentials that hold a, the Friedmann equation as a
// result, and runs that stop where it has none.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "runtime/run/run.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

constexpr double kStart = 1.0, kRadiation = 10;

std::string homogeneous(const std::string& potential, const std::string& integrator, double dt,
                        const std::string& rescale = "") {
  return R"(model thermal "a potential that holds a"
units reduced_planck
lattice box: 4^3, length = 4, boundary = periodic
metric frw(a), rho_r = 10
field phi: real
potential V = )" +
         potential + "\n" + rescale + "init phi = 1, phi' = 0\nprecision real = f64\nevolve " +
         integrator + ", dt = " + exact(dt) +
         ", until = step >= 100000\nat end: t, a, f = mean(phi), off = mean(rho)/(3*H^2) - 1, "
         "w, H -> \"th.h5\"\n";
}

/// phi, phi', a of one field with V(phi, a), by the classical Runge-Kutta method in cosmic time:
/// the Friedmann equation gives H at every stage and nothing of the pressure.
std::array<double, 3> reference(const std::function<double(double, double)>& V,
                                const std::function<double(double, double)>& slope, double end,
                                int steps) {
  using State = std::array<double, 3>;
  const auto rate = [&](const State& y) {
    const double rho = y[1] * y[1] / 2 + V(y[0], y[2]) + kRadiation / (y[2] * y[2] * y[2] * y[2]);
    const double H = std::sqrt(rho / 3);
    return State{y[1], -3 * H * y[1] - slope(y[0], y[2]), y[2] * H};
  };
  const auto moved = [](const State& y, const State& k, double h) {
    return State{y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]};
  };
  State y{kStart, 0, 1};
  const double h = end / steps;
  for (int i = 0; i < steps; ++i) {
    const State a = rate(y), b = rate(moved(y, a, h / 2)), c = rate(moved(y, b, h / 2));
    const State d = rate(moved(y, c, h));
    for (int j = 0; j < 3; ++j) y[j] += h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]);
  }
  return y;
}

const char* const kThermal = "(phi^2 - 0.1)^2 + phi^2/a^2";

TEST(ThermalMass, AgreesWithTheFriedmannEquationAlone) {
  const auto V = [](double f, double a) { return (f * f - 0.1) * (f * f - 0.1) + f * f / (a * a); };
  const auto slope = [](double f, double a) { return 4 * f * (f * f - 0.1) + 2 * f / (a * a); };
  for (const char* rescale : {"", "rescale A = 2, B = 1, s = -1\n"}) {
    Simulation setup;
    setup.steps = 800;
    const auto result = run_text(homogeneous(kThermal, "vv6", 0.01, rescale), setup);
    const auto y = reference(V, slope, last(result, "t"), 100000);
    EXPECT_NEAR(last(result, "a") / y[2], 1, 1e-6) << rescale;
    EXPECT_NEAR(last(result, "f"), y[0], 1e-6) << rescale;
    EXPECT_LT(std::abs(last(result, "off")), 1e-6) << rescale;
  }
}

TEST(ThermalMass, TheResidualShrinksWithTheOrder) {
  const struct {
    const char* integrator;
    int order, steps;
  } rows[] = {{"leapfrog", 2, 400}, {"vv4", 4, 200}, {"rk4", 4, 200}};
  for (const auto& row : rows) {
    const auto off = [&](int steps) {
      Simulation setup;
      setup.steps = steps;
      return std::abs(
          last(run_text(homogeneous(kThermal, row.integrator, 5.0 / steps), setup), "off"));
    };
    EXPECT_NEAR(std::log2(off(row.steps) / off(2 * row.steps)), row.order, 0.2) << row.integrator;
  }
}

// p = -V - (a/3) dV/da: V = c*a^n alone has w = -1 - n/3
TEST(ThermalMass, PressureOfAPowerOfA) {
  const auto result = run_text(R"(model power "w of a^-1"
units reduced_planck
lattice box: 4^3, length = 4, boundary = periodic
metric frw(a)
field phi: real
potential V = 2/a + 1e-40*phi^2
init phi = 0, phi' = 0
precision real = f64
evolve vv6, dt = 0.01, until = t > 1
at end: w, t, a, H -> "w.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "w"), -2.0 / 3, 1e-12);
  // H^2 = 2/(3 a): a = (1 + H0 t/2)^2
  const double t = last(result, "t");
  EXPECT_NEAR(last(result, "a"), std::pow(1 + std::sqrt(2.0 / 3) * t / 2, 2), 1e-10);
}

// Energy that the equations take away and rho knows nothing of: what H says is not what rho says.
TEST(Watched, AFrictionOfItsOwnStopsTheRun) {
  const std::string text = R"(model lossy "friction beside the expansion"
units reduced_planck
lattice box: 4^3, length = 4, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^2/2
phi'' = derived - GAMMA*phi'
init phi = 1, phi' = 0
evolve rk4, dt = 0.02, until = t > 40
every 10 steps: a, H -> "l.h5"
)";
  const auto with = [&](const std::string& gamma) {
    std::string t = text;
    t.replace(t.find("GAMMA"), 5, gamma);
    return t;
  };
  try {
    run_text(with("0.2"), {});
    ADD_FAILURE() << "ran to its end";
  } catch (const runtime::RunError& error) {
    EXPECT_EQ(error.code, "E0815");
    EXPECT_NE(std::string(error.what()).find("Friedmann"), std::string::npos) << error.what();
  }
  // a small loss is said, not refused
  const auto small = run_text(with("0.0005"), {});
  ASSERT_FALSE(small.notes.empty());
  EXPECT_NE(small.notes.back().find("3 M^2 H^2"), std::string::npos) << small.notes.back();
  EXPECT_TRUE(run_text(with("0"), {}).notes.empty());
}

// The force of m^2 phi^2/a^2 without its part of the energy: what a missing -(a/3) dV/da does.
TEST(Watched, AMissingTermOfThePressureStopsTheRun) {
  const char* models[] = {R"(metric frw(a), rho_r = 10
field phi, chi: real
potential V = (phi^2 - 0.1)^2
phi'' = derived - 2*phi/a^2
init phi = 1, chi = 0
)",
                          R"(metric frw(a)
field phi, chi: real
potential V = phi^2/2 + 1e-3*chi^2
chi'' = derived - 2*a*chi
init phi = 1, chi = 1
)",
                          R"(metric frw(a)
field phi, chi: real
potential V = phi^2/2 + 1e-3*chi^2
chi'' = derived - 2*t*chi
init phi = 1, chi = 1
)"};
  for (const char* model : models) {
    const std::string text =
        std::string(
            "model dropped \"a force without its energy\"\nunits reduced_planck\n"
            "lattice box: 8^3, length = 10, boundary = periodic\n") +
        model + "evolve leapfrog, dt = 2^-6, until = t > 64\nevery 64 steps: a, H -> \"d.h5\"\n";
    try {
      run_text(text, {});
      ADD_FAILURE() << "ran to its end: " << model;
    } catch (const runtime::RunError& error) {
      EXPECT_EQ(error.code, "E0815") << error.what();
    }
  }
}

// Negative energy ends an expansion: H passes through 0 with rho, and the crunch ends the run.
TEST(Watched, ACrunchStopsAndATurnDoesNot) {
  const std::string text = R"(model crunch "the energy of the vacuum is negative"
units reduced_planck
lattice box: 4^3, length = 4, boundary = periodic
metric frw(a), rho_m = 3.1
field phi: real
potential V = -0.1 + phi^2/2
init phi = 0, phi' = 0
precision real = f64
evolve leapfrog, dt = 0.01, until = t > END
every 10 steps: a, H, off = mean(rho)/(3*H^2) - 1 -> "c.h5"
)";
  const auto until = [&](const std::string& end) {
    std::string t = text;
    t.replace(t.find("END"), 3, end);
    return t;
  };
  // a^3 = 31 sin^2(sqrt(0.3)/2*t + c) turns at t = 5.1 and is 0 at t = 10.8
  const auto turned = run_text(until("8"), {});
  EXPECT_LT(last(turned, "H"), 0);
  try {
    run_text(until("30"), {});
    ADD_FAILURE() << "went through the crunch";
  } catch (const runtime::RunError& error) {
    EXPECT_TRUE(std::string(error.code) == "E0815" || std::string(error.code) == "E0801")
        << error.what();
  }
}

}  // namespace
}  // namespace vphi
