// Noise of fields in an expanding box: its variance is that of coordinates and of the time t,
// whatever time the program steps in.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi::testing {
namespace {

/// The mean square of `phi` over 24^3 sites of volume 1/8 at t = 1, where a = exp(t/2).
double mean_square(const std::string& lines, const std::string& integrator) {
  const std::string text =
      "model noisy \"noise in de Sitter space\"\nparam h = 0.5\n"
      "lattice box: 24^3, spacing = 0.5, boundary = periodic\nmetric frw(a = exp(h*t))\n"
      "field phi: real\nprecision real = f64\n" +
      lines + "evolve " + integrator +
      ", dt = 0.01, until = t > 0.999\nat end: square = mean(phi^2), t -> \"n.h5\"\n";
  const auto result = run_text(text, {});
  EXPECT_NEAR(last(result, "t"), 1, 0.011);
  return last(result, "square");
}

constexpr double kTolerance = 0.05;  // four standard errors of 13824 sites: 0.048

// phi' = s noise/a^(3/2): s^2/dx^3 times the integral of a^(-3), noise of unit strength in a
// physical volume. Without the factor s^2 t/dx^3.
TEST(NoiseInExpansion, StrengthIsThatOfCoordinatesAndOfCosmicTime) {
  for (const std::string rescale : {"", "rescale s = 1\n", "rescale s = 3\n"}) {
    const std::string init = rescale + "init phi = 0\n";
    const double physical = 0.09 * (1 - std::exp(-1.5)) / 1.5 * 8;
    EXPECT_NEAR(mean_square("phi' = 0.3*a^(-3/2)*noise\n" + init, "sra1") / physical, 1, kTolerance)
        << rescale;
    const double comoving = 0.09 * 8;
    EXPECT_NEAR(mean_square("phi' = 0.3*noise - 1e-9*H*phi\n" + init, "srk2") / comoving, 1,
                kTolerance)
        << rescale;
  }
}

// Starobinsky's equation, a patch for each site: <phi^2> = 3 h^4/(8 pi^2 m^2) (1 - exp(-2 m^2
// t/(3 h))), Phys. Rev. D 50 (1994) 6357.
TEST(NoiseInExpansion, StochasticInflationHasItsVariance) {
  const double rate = 2 * 0.6 / (3 * 0.5);
  const double expected = 3 * std::pow(0.5, 4) / (8 * std::pow(std::numbers::pi, 2) * 0.6) *
                          (1 - std::exp(-rate * 1.0));
  EXPECT_NEAR(mean_square("V = 0.6*phi^2/2\n"
                          "phi' = -d(V, phi)/(3*H) + H^(3/2)/(2*pi)*sqrt(dx^3)*noise\n"
                          "init phi = 0\n",
                          "srk2") /
                  expected,
              1, kTolerance);
}

// A Langevin equation whose bath has the temperature T in physical volumes: <phi'^2> = T/(a dx)^3
// where the friction is faster than the expansion.
TEST(NoiseInExpansion, ABathGivesVelocitiesItsTemperature) {
  const std::string lines =
      "param T = 0.2, gamma = 40\nphi'' = derived - gamma*phi' + sqrt(2*gamma*T/a^3)*noise\n"
      "potential V = 0.01*phi^2\ninit phi = 0, phi' = 0\n";
  const std::string text =
      "model bath \"a bath in de Sitter space\"\n"
      "lattice box: 24^3, spacing = 0.5, boundary = periodic\nmetric frw(a = exp(0.5*t))\n"
      "field phi: real\nprecision real = f64\n" +
      lines +
      "evolve srk2, dt = 0.001, until = t > 0.3\n"
      "at end: square = mean(phi'^2)*(a*dx)^3 -> \"n.h5\"\n";
  // u = <v^2> (a dx)^3: u' = 3 h u - 2 (gamma + 3 h) u + 2 gamma T stands still; what the Laplacian
  // takes is far below
  EXPECT_NEAR(last(run_text(text, {}), "square"), 0.2 * 40 / (40 + 1.5 * 0.5), 0.2 * kTolerance);
}

}  // namespace
}  // namespace vphi::testing
