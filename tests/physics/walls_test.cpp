// Boundaries of each field: exact modes between walls of their own, and the same fields alone in a
// box whose walls they share.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;

constexpr double kPi = std::numbers::pi;

/// Largest error of the last output of each quantity.
std::vector<double> errors_of(const std::string& model) {
  const auto result = run_text(model, {});
  std::vector<double> last;
  for (const auto& series : result.series) {
    double worst = 0;
    for (const auto& [t, error] : series.points) worst = std::max(worst, error);
    last.push_back(worst);
    EXPECT_GE(series.points.size(), 5u);
  }
  return last;
}

/// A standing wave of leapfrog: sin(omega dt/2) = dt/dx sin(k dx/2), dx = 1.
double frequency(double k, double dt) { return 2 / dt * std::asin(dt * std::sin(k / 2)); }

// Five fields on one line, each with a mode of its own walls. Sites are 0 to n-1; a fixed wall lies
// on the sites -1 and n, a mirror halfway between the last site and its image.
TEST(Walls, EachFieldHasTheModesOfItsOwnWalls) {
  constexpr int n = 24;
  constexpr double dt = 0.25;
  struct Mode {
    const char *name, *boundary;
    double k;
    std::string shape;
  };
  const auto wave = [](const char* function, double k, double shift) {
    return fmt::format("{}({:.17g}*(index(x) + {}))", function, k, shift);
  };
  const double fixed = 3 * kPi / (n + 1), mirror = 2 * kPi / n, anti = 3 * kPi / n;
  const Mode modes[] = {{"f", "fixed", fixed, wave("sin", fixed, 1)},
                        {"m", "neumann", mirror, wave("cos", mirror, 0.5)},
                        {"o", "outflow", mirror, wave("cos", mirror, 0.5)},
                        {"p", "periodic", 4 * kPi / n, wave("sin", 4 * kPi / n, 0.25)},
                        {"q", "antiperiodic", anti, wave("sin", anti, 0.25)}};
  std::string model = fmt::format("model walls\nlattice line: {}, spacing = 1\n", n);
  std::string outputs;
  for (const Mode& m : modes) {
    model +=
        fmt::format("field {0}: real, boundary = {1}\n{0}'' = lap({0})\ninit {0} = {2}, {0}' = 0\n",
                    m.name, m.boundary, m.shape);
    outputs += fmt::format("{}max(abs({} - {}*cos({:.17g}*t)))", outputs.empty() ? "" : ", ",
                           m.name, m.shape, frequency(m.k, dt));
  }
  model += fmt::format("evolve leapfrog, dt = {}, until = t > 50\nevery 20 steps: {} -> \"w.h5\"\n",
                       dt, outputs);
  const auto errors = errors_of(model);
  ASSERT_EQ(errors.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_LT(errors[i], 1e-11) << modes[i].boundary;
}

// In two dimensions with a wide stencil: fixed in one direction, a mirror in the other, beside a
// field that is periodic.
TEST(Walls, AxesHaveTheirOwn) {
  const double kx = 2 * kPi / 13, ky = 3 * kPi / 16, dt = 0.25;
  const double k2 = 4 * std::pow(std::sin(kx / 2), 2) + 4 * std::pow(std::sin(ky / 2), 2);
  const double omega = 2 / dt * std::asin(dt / 2 * std::sqrt(k2));
  const std::string shape =
      fmt::format("sin({:.17g}*(index(x) + 1))*cos({:.17g}*(index(y) + 0.5))", kx, ky);
  const auto errors = errors_of(
      fmt::format("model walls\nlattice plane: 12*16, spacing = 1\n"
                  "field u: real, boundary(x) = fixed, boundary(y) = neumann\nfield v: real\n"
                  "u'' = lap(u)\nv'' = lap(v) - v\ninit u = {0}, u' = 0\ninit v = "
                  "cos(2*pi*index(x)/12), v' = 0\n"
                  "evolve leapfrog, dt = {1}, until = t > 20\n"
                  "every 8 steps: max(abs(u - {0}*cos({2:.17g}*t))), max(v) -> \"w.h5\"\n",
                  shape, dt, omega));
  EXPECT_LT(errors[0], 1e-11);
}

// The state at rest between two fixed values, stored in other units than the physical ones: the
// walls are sites at x = -8 and 8, and lap(u) of cosh(x/2) is 2 (cosh(1/2) - 1) times it.
TEST(Walls, AFixedValueIsPhysical) {
  const std::string shape = "2*cosh(x/2)/cosh(4)";
  for (const char* fields : {"boundary = fixed(2)\nfield u: real\n",
                             "boundary = periodic\nfield u: real, boundary = fixed(2)\n"
                             "field w: real\nw'' = lap(w)\ninit w = 0, w' = 0\n"}) {
    const auto errors =
        errors_of("model walls\nlattice line: 15, spacing = 1, " + std::string(fields) +
                  "rescale A = 8\nu'' = lap(u) - 2*(cosh(0.5) - 1)*u\ninit u = " + shape +
                  ", u' = 0\nevolve leapfrog, dt = 0.1, until = t > 5\n" +
                  "every 10 steps: max(abs(u - " + shape + ")) -> \"w.h5\"\n");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_LT(errors[0], 1e-12) << fields;
  }
}

// Walls of two values: the straight line between them.
TEST(Walls, EachAxisHasItsOwnValue) {
  const auto errors = errors_of(
      "model walls\nlattice plane: 6*7, spacing = 1, boundary = [fixed(1), fixed(3)]\n"
      "field u: real\nu' = u@x - u@y\ninit u = 0\nevolve euler, dt = 1, until = t > 6\n"
      "every 1 step: abs(max(u*(index(x) == 5)*(index(y) == 3)*(step == 1)) - (step == 1)), "
      "abs(min(u*(index(x) == 2)*(index(y) == 6)*(step == 1)) + 3*(step == 1)) -> \"w.h5\"\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0], 0);
  EXPECT_EQ(errors[1], 0);
}

// An energy in which fields with walls of their own do not touch is kept; d(H) of one that is fixed
// counts the links to its walls.
TEST(Walls, EnergyBetweenWallsIsKept) {
  const auto errors = errors_of(
      "model walls\nlattice plane: 8*6, spacing = 1\n"
      "field u, p: real, boundary(x) = fixed\nfield v, q: real, boundary(y) = antiperiodic\n"
      "H = total(p^2/2 + q^2/2 + ((u@x - u)^2 + (u@y - u)^2 + u^4)/2 + u^2*v^2\n"
      "          + ((v@x - v)^2 + (v@y - v)^2)/2)\n"
      "init u ~ normal, v ~ normal, p = 0, q = 0\nevolve yoshida4, dt = 0.02, until = t > 4\n"
      "every 20 steps: abs(H/first(H, t >= 0) - 1) -> \"w.h5\"\n");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_LT(errors[0], 1e-5);
}

// Sums of differences have the equations of the inside at ends with images; the others are refused
// (bad_physics/sum_at_end).
TEST(Walls, EnergyBetweenImagesIsKept) {
  for (const char* terms : {"((u@x - u)^2 + (u@y - u)^2)/2", "-u*lap(u)/2",
                            "(u@x - u)^2/2 + (u@y - u)^4/4", "(1 + x^2)*(u@x - u)^2/2"}) {
    for (const char* ends : {"neumann", "outflow"}) {
      const auto errors = errors_of(
          "model walls\nlattice plane: 8*6, spacing = 0.5, boundary = " + std::string(ends) +
          "\nfield u, p: real\nH = total(p^2/2 + u^4/4 + " + terms +
          ")\ninit u ~ normal, p = 0\nevolve yoshida4, dt = 0.01, until = t > 4\n"
          "every 20 steps: abs(H/first(H, t >= 0) - 1) -> \"w.h5\"\n");
      ASSERT_EQ(errors.size(), 1u);
      EXPECT_LT(errors[0], 1e-5) << terms << " " << ends;
    }
  }
}

}  // namespace
}  // namespace vphi
