// Shipped models against closed forms: their own expectations, and growth rates of the
// instabilities of the cosmological ones. Clocks.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_file;
using testing::run_text;
using testing::shipped;
using testing::Simulation;

struct Shipped {
  const char* name;
  const char* lattice;
};

class Promises : public ::testing::TestWithParam<Shipped> {};

TEST_P(Promises, AreKept) {
  Simulation setup;
  setup.lattice = GetParam().lattice;
  const auto result = run_file(shipped(GetParam().name), setup);
  EXPECT_FALSE(result.expectations.empty());
  for (const auto& promise : result.expectations) {
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Promises,
    ::testing::Values(Shipped{"teaching/kink", ""}, Shipped{"teaching/drum", ""},
                      Shipped{"teaching/oblique", ""}, Shipped{"spins/xy", ""},
                      Shipped{"teaching/absorbing", ""}, Shipped{"teaching/condensate", ""},
                      Shipped{"teaching/bright_soliton", ""}, Shipped{"teaching/rolls", ""},
                      Shipped{"cosmology/axion", "8^3"}, Shipped{"cosmology/conformal", ""},
                      Shipped{"cosmology/eras", "4^3"}, Shipped{"cosmology/hyperbolic", "4^3"},
                      Shipped{"cosmology/nonminimal", "8^3"}, Shipped{"cosmology/hybrid", "24^3"}),
    [](const auto& test) {
      const std::string name = test.param.name;
      return name.substr(name.find('/') + 1);
    });

/// Half the growth rate of what lies in two observables between two times.
double growth(const runtime::RunResult& result, const char* one, const char* two, double from,
              double to) {
  const auto *a = result.find(one), *b = result.find(two);
  double first = 0, first_t = -1, last = 0, last_t = 0;
  for (std::size_t i = 0; i < a->points.size(); ++i) {
    const double t = a->points[i].first, value = a->points[i].second + b->points[i].second;
    if (first_t < 0 && t >= from) first = value, first_t = t;
    if (t <= to) last = value, last_t = t;
  }
  return 0.5 * std::log(last / first) / (last_t - first_t);
}

// The condensate of the flattened potential breaks up: averaged over its oscillation the amplitude
// obeys 2i psi' = -lap(psi) - (3/4 lambda |psi|^2 - 5/8 g^2 |psi|^4) psi (m = 1), and a wave grows
// by
//   mu = k/2*sqrt(3/2 lambda psi0^2 - 5/2 g^2 psi0^4 - k^2),
// up to terms of relative order lambda psi0^2. Here lambda = 1, g^2 = 10, psi0^2 = 0.02.
TEST(Oscillon, TheCondensateBreaksUpAtTheKnownRate) {
  const double psi2 = 0.02, depth = 1.5 * psi2 - 25 * psi2 * psi2, k2 = depth / 2;
  const double mu = 0.5 * std::sqrt(k2) * std::sqrt(depth - k2);
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "param step = %.17g, start = %.17g\n",
                std::sqrt((2 - 2 * std::cos(std::acos(-1.0) / 8)) / k2), std::sqrt(psi2));
  const auto result = run_text(std::string("model oscillon \"one mode\"\n") + numbers +
                                   R"(lattice line: 16, spacing = step, boundary = periodic
field phi: real
potential V = phi^2/2 - phi^4/4 + 10*phi^6/6
init phi = start + 1e-8*cos(2*pi*index(x)/16), phi' = 0
precision real = f64
evolve vv4, dt = 0.1, until = t > 2000
every 10 steps: A = var(phi), B = var(phi') -> "o.h5"
)",
                               {});
  EXPECT_NEAR(growth(result, "A", "B", 800, 1900) / mu, 1, 0.04);
}

// sigma is tachyonic where phi = 0: sigma = s0 cosh(mu t), mu^2 = lambda v^2 - k_eff^2.
TEST(Hybrid, TachyonicGrowth) {
  const double dx = 0.7, k2 = (2 - 2 * std::cos(std::acos(-1.0) / 8)) / (dx * dx);
  const auto result = run_text(R"(model hybrid "the false vacuum"
lattice line: 16, spacing = 0.7, boundary = periodic
field phi, sigma: real
potential V = (sigma^2 - 1)^2/4 + phi^2*sigma^2/2
init phi = 0, sigma = 1e-9*cos(2*pi*index(x)/16), sigma' = 0
precision real = f64
evolve vv6, dt = 0.05, until = t > 10
at end: t, size = max(sigma) -> "h.h5"
)",
                               {});
  const double t = last(result, "t");
  EXPECT_NEAR(last(result, "size") / (1e-9 * std::cosh(std::sqrt(1 - k2) * t)), 1, 1e-8);
}

// A wall of phi^4 has the energy 2*sqrt(2)/3*sqrt(lambda)*eta^3 per area.
TEST(Walls, Tension) {
  const auto result = run_text(R"(model wall "a plane wall"
param lambda = 2, eta = 1.5
lattice sheet: [256, 8], spacing = 0.08, boundary = [antiperiodic, periodic]
field phi: real
potential V = lambda/4*(phi^2 - eta^2)^2
laplacian = axis8
init phi = eta*tanh(sqrt(lambda/2)*eta*x), phi' = 0
precision real = f64
evolve leapfrog, dt = 0.2*dx, until = t > 4
energy = phi'^2/2 + norm2(grad(phi))/2 + V
every 10 steps: tension = total(energy)*dx/8 -> "w.h5"
)",
                               {});
  const double exact = 2 * std::sqrt(2.0) / 3 * std::sqrt(2.0) * std::pow(1.5, 3);
  for (const auto& [t, value] : result.find("tension")->points) {
    EXPECT_NEAR(value / exact, 1, 1e-6) << t;
  }
}

// No running sums: 1e5 additions of 0.1 are wrong by 2e-8.
TEST(Clock, TimeIsStepsTimesTheStep) {
  Simulation setup;
  setup.steps = 100000;
  const std::string rest = R"(
init phi = 1, phi' = 0
precision real = f64
evolve leapfrog, dt = 0.1, until = step > 1000000
at end: t, a2 = 1 -> "t.h5"
)";
  const auto flat = run_text(R"(model clock "time"
lattice line: 4, spacing = 1
field phi: real
phi'' = lap(phi) + 1e-9*cos(t))" +
                                 rest,
                             setup);
  EXPECT_DOUBLE_EQ(last(flat, "t"), 100000 * 0.1);
  // a stays 1 to 1e-15: t' = a is summed, with the rounding of each step kept
  const auto expanding = run_text(R"(model clock "time"
units reduced_planck
lattice line: 4, spacing = 1
metric frw(a)
field phi: real
potential V = 1e-60*phi^2
rescale s = -1)" + rest,
                                  setup);
  EXPECT_NEAR(last(expanding, "t"), 10000, 4e-12);
}

}  // namespace
}  // namespace vphi
