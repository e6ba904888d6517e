// Coordinates of a moving link: their rates against differences of the exponential, brackets
// against products of matrices.
#include "compiler/gauge/chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/gauge/numbers.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::Numbers;

std::vector<Expr> drawn_coordinates(Arena& arena, int count, double width, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, width);
  std::vector<Expr> result;
  for (int a = 0; a < count; ++a) result.push_back(arena.real(normal(generator)));
  return result;
}

TEST(Chart, RatesOfCoordinatesMoveTheLinkAlongItsVelocity) {
  Arena arena;
  for (const int n : {2, 3, 4}) {
    const Group group{Kind::SU, n};
    const int count = group.generators();
    for (const double width : {1e-6, 0.05, 0.15}) {
      Numbers numbers(arena, static_cast<unsigned>(n));
      const auto theta = drawn_coordinates(arena, count, width / n, 1);
      const auto velocity = drawn_coordinates(arena, count, 1, 2);
      const auto rate = turn_rate(group, theta, velocity, chart_powers(1e-17));
      const Dense a = numbers.of(algebra_element(group, theta)),
                  w = numbers.of(algebra_element(group, velocity)),
                  z = numbers.of(algebra_element(group, rate));
      const auto at = [&](double h) { return testing::exponential(a + C(h) * z); };
      const double h = 1e-3;
      const Dense change = C(1 / (12 * h)) * (C(8) * (at(h) + C(-1) * at(-h)) +
                                              C(-1) * (at(2 * h) + C(-1) * at(-2 * h)));
      EXPECT_LT(distance(change * dagger(at(0)), w), 1e-10) << n << " " << width;
    }
  }
}

TEST(Chart, ABracketIsThatOfTheMatrices) {
  Arena arena;
  for (const int n : {2, 3, 4}) {
    const Group group{Kind::SU, n};
    Numbers numbers(arena, 1);
    const auto u = drawn_coordinates(arena, group.generators(), 1, 3);
    const auto v = drawn_coordinates(arena, group.generators(), 1, 4);
    const Dense x = numbers.of(hermitian(group, u)), y = numbers.of(hermitian(group, v));
    const Dense expected = C(0, 1) * (x * y + C(-1) * (y * x));
    EXPECT_LT(distance(numbers.of(hermitian(group, bracket(group, u, v))), expected), 1e-13) << n;
  }
}

}  // namespace
}  // namespace vphi::gauge
