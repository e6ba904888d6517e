// Points of densities of any form against integrals by quadrature, and starts that are kept where a
// condition holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "program/formula.hpp"
#include "program/points.hpp"
#include "runtime/parallel.hpp"
#include "runtime/run/starts/points.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using Density = std::function<double(double, double, double)>;

/// <x^2>, <y^2>, <z^2>, <r^4> of a density within the ball of this radius: midpoints of cubes.
std::array<double, 4> moments(const Density& f, double reach) {
  constexpr int kCubes = 100;
  const double h = 2 * reach / kCubes;
  std::array<double, 4> sum{};
  double all = 0;
  const auto at = [&](int i) { return -reach + (i + 0.5) * h; };
  for (int i = 0; i < kCubes; ++i)
    for (int j = 0; j < kCubes; ++j)
      for (int k = 0; k < kCubes; ++k) {
        const double x = at(i), y = at(j), z = at(k), r2 = x * x + y * y + z * z;
        if (r2 > reach * reach) continue;
        const double w = f(x, y, z);
        all += w, sum[0] += w * x * x, sum[1] += w * y * y, sum[2] += w * z * z;
        sum[3] += w * r2 * r2;
      }
  for (double& s : sum) s /= all;
  return sum;
}

/// Bodies in 100 draws, and the means of the same moments over them.
std::string drawn(const std::string& density, const std::string& sweep = "",
                  const std::string& more = "") {
  return fmt::format(R"(model drawn "points of a density"
sweep event = 0..99{}
particles one: 238
var X[k]: vec(3)
X[k]' = 0*X[k]
{}init X ~ density({})
evolve euler, dt = 1, until = t > 0
r2[k] = norm2(X[k])
xx = sum(X[k][0]^2, k)/238
yy = sum(X[k][1]^2, k)/238
zz = sum(X[k][2]^2, k)/238
rr = sum(r2[k]^2, k)/238
at end: mean(xx, over = event), mean(yy, over = event), mean(zz, over = event), mean(rr, over = event) -> "m.h5"
)",
                     sweep, more, density);
}

constexpr const char* kMoments[] = {"mean(xx, over = event)", "mean(yy, over = event)",
                                    "mean(zz, over = event)", "mean(rr, over = event)"};

void expect_moments(const runtime::RunResult& result, std::size_t place,
                    const std::array<double, 4>& exact) {
  for (std::size_t i = 0; i < 4; ++i) {
    const auto* series = result.find(kMoments[i]);
    ASSERT_NE(series, nullptr);
    const double error = series->errors.back()[place];
    EXPECT_NEAR(series->values.back()[place], exact[i], 4 * error) << kMoments[i];
    EXPECT_LT(error, 0.03 * exact[i]);
  }
}

/// Woods and Saxon's density with a radius that depends on the angle to the z axis.
double uranium(double beta2, double beta4, double x, double y, double z) {
  const double r2 = x * x + y * y + z * z, r = std::sqrt(r2), c2 = r2 > 0 ? z * z / r2 : 0;
  const double y20 = std::sqrt(5 / std::numbers::pi) / 4 * (3 * c2 - 1);
  const double y40 = 3 / (16 * std::sqrt(std::numbers::pi)) * (35 * c2 * c2 - 30 * c2 + 3);
  return 1 / (1 + std::exp((r - 6.81 * (1 + beta2 * y20 + beta4 * y40)) / 0.6));
}

constexpr const char* kUranium = "1/(1 + exp((r - radius(z/r))/0.6)), reach = 14";

TEST(PointDensity, DeformedNucleiHaveTheMomentsOfTheirDensity) {
  const auto result = testing::run_text(
      drawn(kUranium, ", beta = [0, 0.28]",
            "Y_20(c) = sqrt(5/pi)/4*(3*c^2 - 1)\nY_40(c) = 3/(16*sqrt(pi))*(35*c^4 - 30*c^2 + 3)\n"
            "radius(c) = 6.81*(1 + beta*Y_20(c) + 0.093*Y_40(c))\n"),
      {});
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}})
    expect_moments(result, place,
                   moments([&](double x, double y,
                               double z) { return uranium(place == 0 ? 0 : 0.28, 0.093, x, y, z); },
                           14));
}

/// By the name of what is drawn, with a hole, in a box of its own, of a table of the axis.
TEST(PointDensity, AnyFormula) {
  const auto result = testing::run_text(
      drawn("exp(-X[0]^2/2 - X[1]^2/8)*abs(X[2])*(norm(X) > 1)*(X[0] + X[1] < 2), reach = 5"), {});
  expect_moments(result, 0,
                 moments(
                     [](double x, double y, double z) {
                       const bool in = x * x + y * y + z * z > 1 && x + y < 2;
                       return in ? std::exp(-x * x / 2 - y * y / 8) * std::abs(z) : 0;
                     },
                     5));
}

/// A density of r alone, one of r with a swept width, and the same by its place.
TEST(PointDensity, WaysOfOneDensityAgree) {
  const auto exact =
      moments([](double x, double y, double z) { return std::exp(-(x * x + y * y + z * z)); }, 5);
  expect_moments(testing::run_text(drawn("exp(-r^2), reach = 5"), {}), 0, exact);
  expect_moments(testing::run_text(drawn("exp(-r^2/w), reach = 5", ", w = [1, 3]"), {}), 0, exact);
  expect_moments(testing::run_text(drawn("exp(-norm(X)^2), reach = 5"), {}), 0, exact);
}

/// A rotation of all points of a species: lengths stay, no direction is preferred.
TEST(PointDensity, TurnedPointsKeepTheirDistances) {
  const std::string flat = "exp(-x^2 - y^2 - 20*z^2), reach = 4";
  const auto lying = testing::run_text(drawn(flat), {});
  const auto turned = testing::run_text(drawn(flat + ", turned = on"), {});
  const auto value = [](const runtime::RunResult& result, int i) {
    return result.find(kMoments[i])->values.back()[0];
  };
  EXPECT_NEAR(value(turned, 3), value(lying, 3), 1e-6 * value(lying, 3));
  const double third = (value(lying, 0) + value(lying, 1) + value(lying, 2)) / 3;
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(value(turned, i), third, 4 * turned.find(kMoments[i])->errors.back()[0]);
  EXPECT_LT(value(lying, 2), 0.1 * third);
}

// ---- components ---------------------------------------------------------------------------------

/// A flattened ball of two species that keep a distance, of a swept width.
program::Program flattened() {
  using Op = program::Formula::Op;
  program::PointDensity density;
  density.components = 3, density.reach = 3, density.apart = 0.3,
  density.centred = density.turned = true;
  density.species = {20, 12};
  density.axes = {0};
  // exp(-(x^2 + y^2 + 9 z^2) w)
  density.formula.steps = {{.op = Op::Input, .index = 0},      {.op = Op::Input, .index = 1},
                           {.op = Op::Input, .index = 2},      {.op = Op::Input, .index = 3},
                           {.op = Op::Product, .of = {0, 0}},  {.op = Op::Product, .of = {1, 1}},
                           {.op = Op::Product, .of = {2, 2}},  {.op = Op::Number, .number = -9},
                           {.op = Op::Number, .number = -1},   {.op = Op::Product, .of = {4, 8}},
                           {.op = Op::Product, .of = {5, 8}},  {.op = Op::Product, .of = {6, 7}},
                           {.op = Op::Sum, .of = {9, 10, 11}}, {.op = Op::Product, .of = {12, 3}},
                           {.op = Op::Exp, .of = {13}}};
  program::RandomField field;
  field.kind = program::RandomField::Kind::Points;
  field.components = 3, field.density = 0, field.stream = 7, field.amplitude = 2;
  program::Program made;
  made.densities = {density};
  made.random.assign(3, field);
  for (int entry = 0; entry < 3; ++entry)
    made.random[static_cast<std::size_t>(entry)].entry = entry;
  return made;
}

std::vector<double> drawn_component(int entry, std::uint64_t seed, double width) {
  std::vector<double> out(32);
  const program::Program flat = flattened();
  runtime::PointDraw draw(flat, flat.random[static_cast<std::size_t>(entry)]);
  draw(seed, {width}, out);
  return out;
}

/// Points are kept for the other components; they are the same in any order, asked for once or
/// often, between other instances and from other threads.
TEST(PointDensity, ComponentsAreThoseOfOneSetOfPoints) {
  const auto x = drawn_component(0, 5, 1), y = drawn_component(1, 5, 1),
             z = drawn_component(2, 5, 1);
  for (std::size_t a = 0; a < 20; ++a)
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_GE(std::hypot(x[a] - x[b], y[a] - y[b], z[a] - z[b]), 2 * 0.3 * (1 - 1e-12));
  double sum = 0;
  for (std::size_t k = 20; k < 32; ++k) sum += y[k];
  EXPECT_NEAR(sum, 0, 1e-12);
  EXPECT_NE(x, drawn_component(0, 6, 1));
  EXPECT_EQ(z, drawn_component(2, 5, 1));
  EXPECT_NE(x, drawn_component(0, 5, 0.5));
  std::vector<std::vector<double>> others(8);
  runtime::parallel_ranges(8, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      others[static_cast<std::size_t>(i)] = drawn_component(static_cast<int>(i % 3), 5, 1);
  });
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(others[i], i % 3 == 0 ? x : i % 3 == 1 ? y : z);
  // what was drawn when each component had draws of its own
  EXPECT_DOUBLE_EQ(x[0], 1.8121259340783873);
  EXPECT_DOUBLE_EQ(z[31], 0.74239449959916959);
}

// ---- bounds -------------------------------------------------------------------------------------

using program::Formula;
using program::Interval;

/// A sum of what each operation makes of x and y.
TEST(PointDensity, NoValueIsOutsideOfItsBounds) {
  using Op = Formula::Op;
  for (int op = static_cast<int>(Op::Sum); op <= static_cast<int>(Op::Erf); ++op) {
    Formula f;
    f.steps = {{.op = Op::Input, .index = 0},
               {.op = Op::Input, .index = 1},
               {.op = Op::Number, .number = 0.3},
               {.op = Op::Less, .of = {0, 1}},
               {.op = Op::LessEqual, .of = {1, 2}}};
    const auto made = static_cast<Op>(op);
    f.steps.push_back({.op = made, .of = {0, 1}});
    if (made >= Op::Exp) f.steps.back().of = {0};
    if (made == Op::And || made == Op::Or) f.steps.back().of = {3, 4};
    if (made == Op::Not) f.steps.back().of = {3};
    if (made == Op::Select) f.steps.back().of = {3, 1, 0};
    ASSERT_TRUE(program::is_sound(f, 2));
    for (int box = 0; box < 200; ++box) {
      const double low = -3 + 0.11 * (box % 53), width = 0.07 * (box % 29);
      const double other = -2 + 0.13 * (box % 31), height = 0.05 * (box % 17);
      const Interval sides[] = {{low, low + width}, {other, other + height}};
      const Interval bounds = program::range(f, sides);
      for (int i = 0; i <= 8; ++i)
        for (int j = 0; j <= 8; ++j) {
          const double at[] = {low + width * i / 8, other + height * j / 8};
          const double v = program::value(f, at);
          if (std::isnan(v)) continue;
          const double slack = std::isinf(v) ? 0 : 1e-13 * (1 + std::abs(v));
          EXPECT_TRUE(v >= bounds.low - slack && v <= bounds.high + slack)
              << program::kFormulaOps[static_cast<std::size_t>(op)] << " of " << at[0] << ", "
              << at[1] << ": " << v << " not in " << bounds.low << ", " << bounds.high;
        }
    }
  }
}

// ---- starts that are kept -----------------------------------------------------------------------

std::string kept(const std::string& keep, const std::string& more = "") {
  return fmt::format(R"(model kept "starts that are drawn again"
sweep event = 0..399{}
particles one: 3
var X[k]: vec(2)
X[k]' = 0*X[k]
init X ~ density(exp(-r^2/2), reach = 6)
evolve euler, dt = 1, until = t > 0
first = sum((X[k][0] if k == 0 else 0), k)
at end: first{} -> "k.h5"
)",
                     keep, more);
}

/// Of x above 0.6744897501960817 there is a quarter: the number of draws has the mean 4.
TEST(KeptStarts, AreDrawnUntilTheConditionHolds) {
  const auto result = testing::run_text(kept(", keep = first > 0.6744897501960817", ", draws"), {});
  const auto& first = result.find("first")->values.back();
  const auto& draws = result.find("draws")->values.back();
  double sum = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_GT(first[i], 0.6744897501960817 - 1e-6);
    sum += draws[i];
  }
  EXPECT_NEAR(sum / 400, 4, 4 * std::sqrt(12.0 / 400));
  // what met it at once is the start without the condition
  const auto free = testing::run_text(kept(""), {}).find("first")->values.back();
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(draws[i] == 1, free[i] > 0.6744897501960817) << i;
    if (draws[i] == 1) {
      EXPECT_EQ(first[i], free[i]) << i;
    }
  }
}

TEST(KeptStarts, OfAnEventAreThoseOfItAlone) {
  const std::string text = kept(", keep = first > 1", ", draws");
  const auto all = testing::run_text(text, {});
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    testing::Simulation setup;
    setup.device = device;
    setup.batch = 150;  // in parts
    EXPECT_EQ(testing::run_text(text, setup).find("first")->values.back(),
              all.find("first")->values.back());
    setup.batch = 0;
    setup.set = {{"event", "17"}};
    const auto one = testing::run_text(text, setup);
    EXPECT_EQ(testing::last(one, "first"), all.find("first")->values.back()[17]);
    EXPECT_EQ(testing::last(one, "draws"), all.find("draws")->values.back()[17]);
  }
}

TEST(KeptStarts, AConditionThatNothingMeetsIsSaid) {
  try {
    testing::Simulation setup;
    setup.set = {{"event", "3"}};
    testing::run_text(kept(", keep = first > 100"), setup);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("in none of 10000 draws"), std::string::npos)
        << error.what();
  }
}

// ---- averages over a class ----------------------------------------------------------------------

/// Classes by rank and by a condition, against the values of all instances.
TEST(AveragedClasses, AreThoseOfTheSortedNumbers) {
  const std::string text =
      kept("",
           ", second, top = mean(second, over = event, where = ranked(first, 0.95..1)), "
           "low = mean(second, over = event, where = ranked(first, 0..0.3)), "
           "spread = var(second, over = event, where = ranked(first, 0.1..0.6)), "
           "right = mean(second, over = event, where = first > 0.5), all = mean(second, over = "
           "event)") +
      "second = sum(X[k][1]^2, k)\n";
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    testing::Simulation setup;
    setup.device = device;
    setup.batch = 150;  // in parts
    const auto result = testing::run_text(text, setup);
    const auto& first = result.find("first")->values.back();
    const auto& second = result.find("second")->values.back();
    std::vector<std::size_t> order(first.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return first[i]; });
    const auto moments_of = [&](const auto& member) {
      double n = 0, sum = 0, squares = 0;
      for (std::size_t k = 0; k < order.size(); ++k) {
        if (!member(k, order[k])) continue;
        n += 1, sum += second[order[k]], squares += second[order[k]] * second[order[k]];
      }
      const double mean = sum / n, variance = squares / n - mean * mean;
      return std::array{mean, variance, std::sqrt(variance / (n - 1))};
    };
    const auto expect = [&](const char* name, double value, double error) {
      const auto* series = result.find(name);
      EXPECT_NEAR(series->values.back()[0], value, 1e-9 * std::abs(value)) << name;
      if (error > 0) {
        EXPECT_NEAR(series->errors.back()[0], error, 1e-6 * error) << name;
      }
    };
    const auto top = moments_of([](std::size_t k, std::size_t) { return k >= 380; });
    expect("top", top[0], top[2]);
    const auto low = moments_of([](std::size_t k, std::size_t) { return k < 120; });
    expect("low", low[0], low[2]);
    expect("spread", moments_of([](std::size_t k, std::size_t) { return k >= 40 && k < 240; })[1],
           0);
    const auto right = moments_of([&](std::size_t, std::size_t i) { return first[i] > 0.5; });
    expect("right", right[0], right[2]);
    expect("all", moments_of([](std::size_t, std::size_t) { return true; })[0], 0);
  }
}

}  // namespace
}  // namespace vphi
