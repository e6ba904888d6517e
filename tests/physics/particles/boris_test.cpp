// Charges in a magnetic field: the Boris rotation of the library against closed forms. Its average
// form (v1 - v0)/dt = E + (v1 + v0)/2 x B turns the velocity by 2 atan(B dt/2) a step and keeps its
// size (Birdsall and Langdon, Plasma Physics via Computer Simulation, section 4-4).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

/// One charge: components of the position and of the velocity at every step.
std::string charge(const std::string& equation, const std::string& start, double dt, int steps) {
  std::string text = "model charge\nparticles ion: 1\nvar x[k]: vec(3)\n" + equation + "init " +
                     start + "\nevolve boris, dt = " + exact(dt) + ", until = t > " +
                     exact(dt * (steps - 0.5)) + "\nevery 1 steps: ";
  const char* axis[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  for (int i = 0; i < 3; ++i) {
    text += "x" + std::to_string(i) + " = mean(dot(x, " + axis[i] + ")), ";
    text += "v" + std::to_string(i) + " = mean(dot(x', " + axis[i] + ")), ";
  }
  return text + "speed = mean(norm(x')) -> \"c.h5\"\n";
}

TEST(Boris, TurnsByTwiceTheArcTangent) {
  const double dt = 0.1, b = 2;
  const int steps = 500;
  const auto r = run_text(charge("B = [0, 0, 2]\nx[k]'' = cross(x[k]', B)\n",
                                 "x = [0, 0, 0], x' = [1, 0, 0.5]", dt, steps),
                          {});
  // v' = v x B: clockwise about B
  const double angle = steps * 2 * std::atan(b * dt / 2);
  EXPECT_NEAR(last(r, "v0"), std::cos(angle), 1e-12);
  EXPECT_NEAR(last(r, "v1"), -std::sin(angle), 1e-12);
  EXPECT_NEAR(last(r, "v2"), 0.5, 1e-15);
  EXPECT_NEAR(last(r, "x2"), 0.5 * dt * steps, 1e-11);
  const auto* speed = r.find("speed");
  ASSERT_TRUE(speed);
  for (const auto& [t, value] : speed->points) {
    EXPECT_NEAR(value / speed->points.front().second, 1, 1e-13) << t;
  }
}

/// A field along no axis: what is along it stays, the size stays, and the error of the phase is
/// one of order 2.
TEST(Boris, CyclotronOrbitInAnInclinedField) {
  const double b[3] = {0.3, -0.4, 1.2}, size = 1.3;  // |B|
  const double end = 6;
  const auto error = [&](int steps) {
    const auto r = run_text(charge("B = [0.3, -0.4, 1.2]\nx[k]'' = cross(x[k]', B)\n",
                                   "x = [0, 0, 0], x' = [0.7, 0.2, -0.5]", end / steps, steps),
                            {});
    // v = v_par + v_perp cos(|B| t) + (v x b) sin(|B| t)
    const double v[3] = {0.7, 0.2, -0.5};
    const double along = (v[0] * b[0] + v[1] * b[1] + v[2] * b[2]) / size;
    double sum = 0, kept = 0;
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      const double n = b[i] / size;
      const double across = (v[j] * b[k] - v[k] * b[j]) / size;
      const double expected =
          along * n + (v[i] - along * n) * std::cos(size * end) + across * std::sin(size * end);
      const double found = last(r, "v" + std::to_string(i));
      sum += (found - expected) * (found - expected);
      kept += found * n;
    }
    EXPECT_NEAR(kept, along, 1e-13);
    EXPECT_NEAR(last(r, "speed"), std::sqrt(0.49 + 0.04 + 0.25), 1e-13);
    return std::sqrt(sum);
  };
  const double coarse = error(60), fine = error(120);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.05) << coarse << " " << fine;
}

/// The drift E x B/B^2 is exact.
TEST(Boris, DriftInCrossedFields) {
  const auto r = run_text(charge("B = [0, 0, 2]\nE = [0.3, -0.1, 0]\n"
                                 "x[k]'' = E + cross(x[k]', B)\n",
                                 "x = [0, 0, 0], x' = [-0.05, -0.15, 0]", 0.3, 100),
                          {});
  EXPECT_NEAR(last(r, "v0"), -0.05, 1e-14);
  EXPECT_NEAR(last(r, "v1"), -0.15, 1e-14);
  EXPECT_NEAR(last(r, "x1"), -0.15 * 30, 1e-12);
}

/// A trap and a field: z'' = -w^2 z - i B z' has z = exp(-i lambda t), lambda^2 = w^2 + B lambda.
TEST(Boris, OrderTwoInATrap) {
  const double w = 1.5, b = 2, lambda = (b + std::sqrt(b * b + 4 * w * w)) / 2, end = 4;
  const auto error = [&](int steps) {
    const auto r =
        run_text(charge("B = [0, 0, 2]\nx[k]'' = -2.25*x[k] + cross(x[k]', B)\n",
                        "x = [1, 0, 0], x' = [0, " + exact(-lambda) + ", 0]", end / steps, steps),
                 {});
    return std::hypot(last(r, "x0") - std::cos(lambda * end),
                      last(r, "x1") + std::sin(lambda * end));
  };
  const double coarse = error(200), fine = error(400);
  EXPECT_LT(coarse, 1e-2);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.05) << coarse << " " << fine;
}

/// A force that is no cross product does not go into W, and the message names it.
TEST(Boris, FrictionDoesNotFit) {
  try {
    testing::compile_text(charge("B = [0, 0, 2]\nx[k]'' = cross(x[k]', B) - 0.1*x[k]'\n",
                                 "x = [0, 0, 0], x' = [1, 0, 0]", 0.1, 10),
                          {});
    FAIL() << "friction went somewhere";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("E0749"), std::string::npos) << error.what();
  }
}

/// The shipped plasma, smaller: charges by index, the field's force without work, pairs in f32.
TEST(Plasma, KeepsItsEnergy) {
  Simulation setup;
  setup.set = {{"N", "256"}};
  setup.until = "t > 0.2";
  const auto r = testing::run_file(testing::shipped("particles/plasma"), setup);
  EXPECT_TRUE(r.all_expected());
  // without a field two charges +-1/2... the positions are drawn: the energy is near N*3T/2 + U
  EXPECT_GT(last(r, "energy"), 0);
}

/// q[k] = 1 if k < N/2 else -1: a species by its index; equal numbers add up to nothing, and the
/// pair force is -d(U, x) between charges of different signs.
TEST(Plasma, TwoChargesAttract) {
  const auto r = run_text(
      "model two\nparam N = 2\nparticles ion: N\nvar x[k]: vec(3)\n"
      "q[k] = 1 if k < N/2 else -1\n"
      "U = sum(q[k]*q[l]/sqrt(norm2(x[k] - x[l])), k < l)\n"
      "E = sum(norm2(x[k]')/2, k) + U\n"
      "x[k]'' = -d(U, x[k])\n"
      "init x[k] = [1 - 2*k, 0, 0], x' = [0, 0, 0]\n"
      "evolve leapfrog, dt = 0.001, until = t > 0.0995\n"
      "every 1 steps: dipole = sum(q[k]*dot(x[k], [1, 0, 0]), k), s = mean(norm2(x)), E -> "
      "\"two.h5\"\nexpect drift(E) < 1e-6\n",
      {});
  EXPECT_NEAR(last(r, "dipole"), 2 * std::sqrt(last(r, "s")), 1e-14);
  // s'' at the start: d^2/dt^2 of x^2 is 2 x a = -2*1*(1/4): s = 1 - t^2/4 + O(t^4)
  EXPECT_NEAR(last(r, "s"), 1 - 0.1 * 0.1 / 4, 2e-5);
  EXPECT_TRUE(r.all_expected());
}

}  // namespace
}  // namespace vphi
