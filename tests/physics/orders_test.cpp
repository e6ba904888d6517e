// Orders of the integrators, scale factor included, and homogeneous trajectories.
// References: docs/formulas.md 1.9 and 1.10, computed with an independent program.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

// lambda phi^4/4 in conformal time with f* = 5.6964e18 GeV, m_pl = 2.435e18 GeV: in units
// lambda = 1, m_pl = 1, phi0 = f*/m_pl; phi'(0) = -0.5000004167 in program units.
std::string quartic(const std::string& integrator, double dt) {
  return R"(model quartic "homogeneous quartic field"
units reduced_planck
param phi0 = 5.6964/2.435
lattice box: 4^3, length = 1, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^4/4
rescale A = 1/phi0, B = phi0, s = -1
init phi = phi0, phi' = -0.5000004167*phi0^2
precision real = f64
evolve )" +
         integrator + ", dt = " + exact(dt) + "/phi0, until = step >= 10000\n" +
         "at end: a, H, mean(phi), mean(phi'), mean(rho)/(3*H^2) - 1 -> \"a.h5\"\n";
}

/// Distance of (a, phi, phi') at eta = 10 from Taylor series of order 24 with 30 digits. All three
/// count: a single one may have a small leading error by chance (a of pv10 does).
double error_at_10(const std::string& integrator, int steps) {
  Simulation setup;
  setup.steps = steps;
  const auto result = run_text(quartic(integrator, 10.0 / steps), setup);
  const double a = last(result, "a") - 10.07715690530765839;
  const double phi = last(result, "mean(phi)") + 0.23736409568787380;
  const double rate = last(result, "mean(phi')") + 0.024241591127080740;
  return std::sqrt(a * a + phi * phi + rate * rate);
}

struct Case {
  const char* integrator;
  int order;
  int coarse, fine;  ///< steps in the asymptotic range, above round-off
};

class Order : public ::testing::TestWithParam<Case> {};

TEST_P(Order, ScaleFactorAndField) {
  const Case c = GetParam();
  const double coarse = error_at_10(c.integrator, c.coarse);
  const double fine = error_at_10(c.integrator, c.fine);
  const double order = std::log(coarse / fine) / std::log(double(c.fine) / c.coarse);
  EXPECT_NEAR(order, c.order, 0.15) << c.integrator << ": errors " << coarse << ' ' << fine;
  EXPECT_LT(fine, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(
    Integrators, Order,
    ::testing::Values(Case{"leapfrog", 2, 500, 1000}, Case{"velocity_verlet", 2, 500, 1000},
                      Case{"vv4", 4, 200, 400}, Case{"yoshida4", 4, 200, 400},
                      Case{"vv6", 6, 200, 400}, Case{"vv6_2", 6, 100, 200},
                      Case{"vv8", 8, 125, 175}, Case{"vv10", 10, 75, 90},
                      Case{"position_verlet", 2, 500, 1000}, Case{"pv4", 4, 200, 400},
                      Case{"pv6", 6, 200, 400}, Case{"pv8", 8, 125, 175}, Case{"pv10", 10, 75, 90},
                      Case{"rk3_3", 3, 500, 1000}, Case{"ssp_rk3", 3, 500, 1000},
                      Case{"rk4", 4, 200, 400}, Case{"rk4_5", 4, 200, 400}),
    [](const auto& test) { return test.param.integrator; });

/// The table of docs/formulas.md 1.9: errors C*h^p at eta = 10.
TEST(Homogeneous, ErrorConstantsOfTheDocumentation) {
  const struct {
    const char* integrator;
    int order, steps;
    double constant;
  } rows[] = {{"velocity_verlet", 2, 1000, 5.4},
              {"omelyan2", 2, 1000, 1.10},
              {"vv4", 4, 400, 7.2},
              {"vv6", 6, 200, 2.4},
              {"vv6_2", 6, 150, 0.56},
              {"vv8", 8, 125, 0.029},
              {"vv10", 10, 75, 0.053}};
  for (const auto& row : rows) {
    const double error = error_at_10(row.integrator, row.steps);
    EXPECT_NEAR(error * std::pow(row.steps / 10.0, row.order), row.constant, 0.05 * row.constant)
        << row.integrator;
  }
}

// phi^2 with the initial values of DEFROST 1.0, m = m_pl = 1: t, a, H.
TEST(Homogeneous, QuadraticTrajectory) {
  const std::string model = R"(model quadratic "homogeneous massive field"
units reduced_planck
lattice box: 4^3, length = 1, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^2/2
init phi = 1.0093430384226378929, phi' = -0.7137133070120812431
precision real = f64
evolve vv8, dt = 1/16, until = t > 100
every 16 steps: a, H, mean(rho)/(3*H^2) - 1 -> "a.h5"
)";
  struct Row {
    double t, a, H;
  };
  const Row rows[] = {{1, 1.473440630787, 2.827999270852e-1},
                      {4, 2.396249522117, 1.254470251873e-1},
                      {16, 5.060606500460, 3.781603353340e-2},
                      {64, 12.096339332842, 1.019357461596e-2}};
  const auto result = run_text(model, {});
  const auto* a = result.find("a");
  const auto* H = result.find("H");
  ASSERT_TRUE(a && H);
  for (const Row& row : rows) {
    bool found = false;
    for (std::size_t i = 0; i < a->points.size(); ++i) {
      if (std::abs(a->points[i].first - row.t) > 1e-9) continue;
      found = true;
      EXPECT_NEAR(a->points[i].second, row.a, 1e-10 * row.a) << "t = " << row.t;
      EXPECT_NEAR(H->points[i].second, row.H, 1e-10 * row.H) << "t = " << row.t;
    }
    EXPECT_TRUE(found) << row.t;
  }
  EXPECT_LT(std::abs(last(result, "mean(rho)/(3*H^2) - 1")), 1e-10);
}

}  // namespace
}  // namespace vphi
