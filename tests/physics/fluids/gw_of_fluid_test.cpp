// Gravitational waves of a fluid, alone and beside a scalar: waves that cross have one mode of a
// transverse stress, whose equation is solved by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_file;
using testing::run_text;
using testing::shipped;

constexpr double kSound = 1e-3;   // amplitude of the velocity
constexpr double kScalar = 2e-3;  // of the scalar

/// S' of S'' = -K^2 S + 2 c cos^2(w t), S = S' = 0 at first.
double driven(double c, double K, double w, double t) {
  return c * (std::sin(K * t) / K +
              (K * std::sin(K * t) - 2 * w * std::sin(2 * w * t)) / (K * K - 4 * w * w));
}

/// Two waves of sound, and with `scalar` two of a free field of mass 1, sin against cos, so that
/// both stresses are sin(x) sin(y).
runtime::RunResult crossed(int cells, bool scalar) {
  const std::string n = std::to_string(cells);
  std::string text = "model crossed \"waves of a fluid that cross\"\nlattice box: " + n + " * " +
                     n + " * 4, spacing = 2*pi/" + n + R"(
laplacian = iso7
primitive eps: real, v: vec(3)
field u: sym(3)
p = eps/3
W = 1/sqrt(1 - norm2(v))
conserve E = (eps + p)*W^2 - p:  div(M)
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
recover {
  eps = sqrt(4*E^2 - 3*norm2(M)) - E
  v   = M/(E + p)
}
speed[k] = (abs(v[k]) + 1/sqrt(3))/(1 + abs(v[k])/sqrt(3))
scheme weno5, speed = speed
evolve ssp_rk3, dt = 0.15*dx, until = t > 6
init eps = 1, v = [sin(x)/1000, sin(y)/1000, 0], u = 0, u' = 0
precision real = f64
)";
  text += scalar ? R"(field phi: real
potential V = phi^2/2
u'' = lap(u) + 2*((eps + p)*W^2*outer(v, v) + outer(grad(phi), grad(phi)))
init phi = (cos(x) + cos(y))/500, phi' = 0
)"
                 : "u'' = lap(u) + 2*(eps + p)*W^2*outer(v, v)\n";
  text += "every " + std::to_string(cells / 2) +
          " steps: h2 = mean(norm2(transverse_traceless(u'))) -> \"g.h5\"\n";
  return run_text(text, {});
}

/// Largest distance of <h'^2> from S'^2/8, in units of the fourth power of the amplitude. `step`:
/// wave numbers of the lattice with this spacing, 0: of space itself.
double error(const runtime::RunResult& result, bool scalar, double step) {
  const double one = step > 0 ? 2 * std::sin(step / 2) / step : 1;  // of lap
  const double grad = step > 0 ? std::sin(step) / step : 1;
  const double K = std::sqrt(2.0) * one;
  double worst = 0;
  for (const auto& [t, value] : result.find("h2")->points) {
    double rate = driven(4.0 / 3 * kSound * kSound, K, 1 / std::sqrt(3.0), t);
    if (scalar) {
      const double strength = kScalar * kScalar * grad * grad;
      rate += driven(strength, K, std::sqrt(one * one + 1), t);
    }
    worst = std::max(worst, std::fabs(value - rate * rate / 8));
  }
  return worst / std::pow(kSound, 4);
}

TEST(WavesOfFluids, SoundThatCrossesRadiatesAsTheClosedFormSays) {
  for (const bool scalar : {false, true}) {
    const auto coarse = crossed(16, scalar), fine = crossed(32, scalar);
    const double scale = scalar ? 100 : 4;  // the largest value
    EXPECT_NEAR(std::log2(error(coarse, scalar, 0) / error(fine, scalar, 0)), 2, 0.15) << scalar;
    // wave numbers of the lattice leave the error of the scheme, which is of higher order
    const double left = error(fine, scalar, std::numbers::pi / 16);
    EXPECT_LT(left, 3e-4 * scale) << scalar;
    EXPECT_GT(std::log2(error(coarse, scalar, std::numbers::pi / 8) / left), 3) << scalar;
    EXPECT_GT(error(fine, scalar, 0), 10 * left) << "both closed forms are one";
  }
}

TEST(WavesOfFluids, TheShippedModelKeepsItsPromises) {
  const auto result = run_file(shipped("hydro/gw_sound"), {});
  EXPECT_EQ(result.expectations.size(), 2U);
  for (const auto& promise : result.expectations)
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
}

}  // namespace
}  // namespace vphi
