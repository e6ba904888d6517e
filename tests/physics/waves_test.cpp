// Free standing waves against the exact discrete solution, along 100, 110 and 111, for every
// shipped Laplacian: sin^2(Omega dt/2) = dt^2 (k_eff^2 + m^2)/4, to round-off.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;
using testing::Simulation;

constexpr int kSites = 16;

// Symbols k_eff^2 dx^2 written by hand from the weights (Patra and Karttunen 2006; central
// differences), X = cos(kx dx), ...
double symbol(const std::string& stencil, double x, double y, double z) {
  const double X = std::cos(x), Y = std::cos(y), Z = std::cos(z);
  if (stencil == "star2") return 6 - 2 * (X + Y + Z);
  if (stencil == "iso27")
    return (128 - 28 * (X + Y + Z) - 12 * (X * Y + Y * Z + Z * X) - 8 * X * Y * Z) / 30;
  if (stencil == "axis4") {
    const auto one = [](double k) { return (30 - 32 * std::cos(k) + 2 * std::cos(2 * k)) / 12; };
    return one(x) + one(y) + one(z);
  }
  const auto one = [](double k) {
    return (14350 - 16128 * std::cos(k) + 2016 * std::cos(2 * k) - 256 * std::cos(3 * k) +
            18 * std::cos(4 * k)) /
           5040;
  };
  return one(x) + one(y) + one(z);  // axis8
}

struct Case {
  const char* stencil;
  int nx, ny, nz;
};

class StandingWave : public ::testing::TestWithParam<Case> {};

TEST_P(StandingWave, FollowsTheDiscreteDispersion) {
  const Case c = GetParam();
  const double dx = 0.5, dt = 0.125, mass2 = 0.3;
  const double unit = 2 * std::numbers::pi / kSites;
  const double k2 = symbol(c.stencil, c.nx * unit, c.ny * unit, c.nz * unit) / (dx * dx);
  const double omega = 2 / dt * std::asin(dt / 2 * std::sqrt(k2 + mass2));
  const auto number = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string(text);
  };
  const std::string phase = "(" + number(unit) + "*(" + std::to_string(c.nx) + "*index(x) + " +
                            std::to_string(c.ny) + "*index(y) + " + std::to_string(c.nz) +
                            "*index(z)))";
  const std::string model = R"(model wave "standing wave"
lattice box: 16^3, spacing = 0.5, boundary = periodic
field u: real
potential V = 0.3*u^2/2
laplacian = )" + std::string(c.stencil) +
                            "\ninit u = cos" + phase + ", u' = 0\n" +
                            "precision real = f64\nevolve leapfrog, dt = 0.125, until = t > 100\n" +
                            "every 80 steps: max(abs(u - cos" + phase + "*cos(" + number(omega) +
                            "*t))) -> \"w.h5\"\n";
  const auto result = run_text(model, {});
  ASSERT_EQ(result.series.size(), 1u);
  ASSERT_GE(result.series[0].points.size(), 10u);
  for (const auto& [t, error] : result.series[0].points) EXPECT_LT(error, 1e-12) << "t = " << t;
}

INSTANTIATE_TEST_SUITE_P(Directions, StandingWave,
                         ::testing::Values(Case{"star2", 1, 0, 0}, Case{"star2", 2, 2, 2},
                                           Case{"iso27", 1, 0, 0}, Case{"iso27", 3, 3, 0},
                                           Case{"iso27", 2, 2, 2}, Case{"axis4", 3, 3, 0},
                                           Case{"axis8", 2, 0, 0}, Case{"axis8", 3, 3, 3}),
                         [](const auto& test) {
                           return std::string(test.param.stencil) + "_" +
                                  std::to_string(test.param.nx) + std::to_string(test.param.ny) +
                                  std::to_string(test.param.nz);
                         });

// Beyond the stability limit the run must not be offered at all.
TEST(Stability, TooLargeAStepIsRefused) {
  const std::string model = R"(model w "wave"
lattice box: 8^3, spacing = 1, boundary = periodic
field u: real
potential V = 0*u
laplacian = iso27
init u = 1
evolve leapfrog, dt = 0.9*dx, until = t > 1
every 1 step: mean(u) -> "w.h5"
)";
  try {
    run_text(model, {});
    FAIL() << "dt = 0.9*dx was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("E0301"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("0.8076"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vphi
