// Functions that are known while compiling: tables of them and of their inverses against closed
// forms, rules of Gauss, integrals.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <variant>

#include "compiler/physics/tables/known_function.hpp"

namespace vphi::physics::test {
namespace {

/// The table at y, by its cubics written as Hermite's.
Sampled table_at(const Pieces& all, double y) {
  std::size_t of = 0;
  while (of + 1 < all.sections.size() && y >= all.sections[of + 1].low) ++of;
  const Section& p = all.sections[of];
  const double u = p.logarithmic ? std::log(y) : y;
  std::size_t i = 0;
  while (i + 2 < p.at.size() && u >= p.at[i + 1]) ++i;
  const double h = p.at[i + 1] - p.at[i], s = (u - p.at[i]) / h, r = 1 - s;
  const double value = p.values[i] * (1 + 2 * s) * r * r + p.values[i + 1] * s * s * (3 - 2 * s) +
                       h * (p.slopes[i] * s * r * r - p.slopes[i + 1] * s * s * r);
  const double slope = 6 * s * r * (p.values[i + 1] - p.values[i]) / h +
                       p.slopes[i] * r * (r - 2 * s) + p.slopes[i + 1] * s * (s - 2 * r);
  return {value, p.logarithmic ? slope / y : slope};
}

/// x^3 + x = y by Cardano's formula, without cancellation.
double cardano(double y) {
  const double a = std::cbrt(std::fabs(y) / 2 + std::sqrt(y * y / 4 + 1.0 / 27));
  return std::copysign(a - 1 / (3 * a), y);
}

TEST(Formulas, AnInverseIsTheClosedForm) {
  const KnownFunction f = [](double x) { return Sampled{x * x * x + x, 3 * x * x + 1}; };
  for (const double tol : {1e-6, 1e-8, 1e-10}) {
    const auto made = pieces_of_inverse(f, {{-2, 3}}, tol);
    ASSERT_TRUE(std::holds_alternative<Pieces>(made));
    const auto table = std::get<Pieces>(made);
    EXPECT_EQ(table.sections.front().low, -10);
    EXPECT_EQ(table.sections.back().high, 30);
    for (double y = -9.99; y < 30; y += 0.00731) {
      const double x = cardano(y);
      const Sampled found = table_at(table, y);
      // of the ends of a piece, which is at most 2.5 wide
      EXPECT_NEAR(found.value, x, tol * (std::fabs(x) + 0.5)) << y;
      EXPECT_NEAR(found.slope, 1 / (3 * x * x + 1), 100 * tol) << y;
    }
  }
}

// p = c e^(5/4) over six decades: equal steps of the logarithm, and the error is relative.
TEST(Formulas, DecadesAreStepsOfTheLogarithm) {
  const KnownFunction f = [](double t) { return Sampled{2 * std::pow(t, 4), 8 * std::pow(t, 3)}; };
  const auto made = pieces_of_inverse(f, {{0.03, 1}}, 1e-10);
  const auto table = std::get<Pieces>(made);
  EXPECT_TRUE(table.sections[0].logarithmic);
  EXPECT_LE(table.sections[0].at.size(), 2049U);
  for (double y = 2e-6; y < 2; y *= 1.0137) {
    const double t = std::pow(y / 2, 0.25);
    EXPECT_NEAR(table_at(table, y).value / t, 1, 2e-10) << y;
    EXPECT_NEAR(table_at(table, y).slope * 8 * t * t * t, 1, 2e-8) << y;
  }
}

TEST(Formulas, AFunctionThatFallsHasAnInverse) {
  const KnownFunction f = [](double x) { return Sampled{std::exp(-x), -std::exp(-x)}; };
  const auto table = std::get<Pieces>(pieces_of_inverse(f, {{0, 4}}, 1e-9));
  double before = 5;
  for (double y = 0.019; y < 1; y += 1e-3) {
    const double x = table_at(table, y).value;
    EXPECT_NEAR(x, -std::log(y), 1e-8);
    EXPECT_LT(x, before);
    before = x;
  }
}

// A first-order transition at 1: between the energies of the two phases the inverse is 1.
TEST(Formulas, AJumpIsAGapOfTheInverse) {
  const KnownFunction f = [](double x) {
    return x <= 1 ? Sampled{x * x, 2 * x} : Sampled{3 * x * x, 6 * x};
  };
  const double behind = std::nextafter(1.0, 2.0);
  const auto table = std::get<Pieces>(pieces_of_inverse(f, {{0.1, 1}, {behind, 2}}, 1e-10));
  ASSERT_EQ(table.sections.size(), 2U);
  EXPECT_EQ(table.sections[0].high, 1);
  EXPECT_NEAR(table.sections[1].low, 3, 2e-15);
  EXPECT_NEAR(table_at(table, 0.49).value, 0.7, 1e-10);
  EXPECT_NEAR(table_at(table, 6.75).value, 1.5, 1e-10);
  // one that jumps back by more than rounding has none
  const KnownFunction back = [](double x) {
    return x <= 1 ? Sampled{x * x, 2 * x} : Sampled{x * x / 2, x};
  };
  const auto unfit = std::get<Unfit>(pieces_of_inverse(back, {{0.1, 1}, {behind, 2}}, 1e-10));
  EXPECT_EQ(unfit.why, Unfit::Why::Turns);
  EXPECT_EQ(unfit.where, 1);
}

TEST(Formulas, WhatHasNoTableSaysWhere) {
  const KnownFunction turns = [](double x) { return Sampled{x * (x - 1), 2 * x - 1}; };
  const auto of_turn = std::get<Unfit>(pieces_of_inverse(turns, {{0.1, 2}}, 1e-8));
  EXPECT_EQ(of_turn.why, Unfit::Why::Turns);
  EXPECT_NEAR(of_turn.where, 0.5, 2e-3);
  const KnownFunction pole = [](double x) {
    return Sampled{1 / (x - 0.5), -1 / ((x - 0.5) * (x - 0.5))};
  };
  const auto of_pole = std::get<Unfit>(pieces_of(pole, {{0, 1}}, 1e-8));
  EXPECT_EQ(of_pole.why, Unfit::Why::NotFinite);
  EXPECT_EQ(of_pole.where, 0.5);
  const KnownFunction kink = [](double x) {
    return Sampled{std::fabs(x - 0.3), x < 0.3 ? -1.0 : 1.0};
  };
  const auto of_kink = std::get<Unfit>(pieces_of(kink, {{0, 1}}, 1e-8));
  EXPECT_EQ(of_kink.why, Unfit::Why::Rough);
  EXPECT_NEAR(of_kink.where, 0.3, 1e-3);
}

// n points integrate x^(2n - 1) and less, and not x^(2n).
TEST(Formulas, GaussRulesAreOfTheirOrder) {
  for (const int points : {1, 2, 5, 16, 64}) {
    const GaussRule rule = gauss_rule(points);
    const auto off = [&](int power) {
      long double sum = 0;
      for (std::size_t i = 0; i < rule.at.size(); ++i)
        sum += rule.weight[i] * std::pow(rule.at[i], power);
      return static_cast<double>(std::fabs(sum * (power + 1) - 1));
    };
    for (int power = 0; power < 2 * points; ++power) EXPECT_LT(off(power), 1e-15) << points;
    if (points <= 5) {
      EXPECT_GT(off(2 * points), 1e-7) << points;
    }
  }
}

TEST(Formulas, IntegralsAreTheClosedForms) {
  const auto value = [](const std::function<double(double)>& f, double a, double b) {
    return std::get<double>(integral_of(f, a, b));
  };
  const double pi = std::numbers::pi;
  EXPECT_NEAR(value([](double x) { return std::exp(-x * x); }, -9, 9), std::sqrt(pi), 1e-13);
  EXPECT_NEAR(value([](double x) { return 1 / (1 + 1e4 * x * x); }, -1, 1), 2e-2 * std::atan(100.0),
              1e-14);
  EXPECT_NEAR(value([](double x) { return std::fabs(x - 0.3); }, 0, 1), 0.29, 1e-13);
  EXPECT_NEAR(value([](double x) { return std::sqrt(x); }, 0, 1), 2.0 / 3, 1e-12);
  EXPECT_NEAR(value([](double x) { return std::cos(x); }, 2, -1), -std::sin(1.0) - std::sin(2.0),
              1e-13);
  const auto grows = integral_of([](double x) { return 1 / (x * x); }, 0, 1);
  EXPECT_TRUE(std::holds_alternative<Unfit>(grows));
}

}  // namespace
}  // namespace vphi::physics::test
