// Stencils against known numbers: dispersion, largest eigenvalues and stability limits of the
// usual Laplacians (docs/formulas.md 1.6), plans, gradient energy.
#include "compiler/algebra/stencil_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

struct Laplacian {
  std::string name;
  int centre, faces, edges, corners, denominator;
};

/// u, its neighbours and the spacing in one arena.
struct Box {
  Arena arena;
  Expr u = arena.load(0);
  Expr dx = arena.symbol("dx");

  Expr number(std::int64_t n) { return arena.integer(n); }

  Expr text_of(const Laplacian& l, int dims = 3) {
    const Expr sum = number(l.centre) * u + number(l.faces) * neighbour_sum(u, dims, 1) +
                     number(l.edges) * neighbour_sum(u, dims, 2) +
                     number(l.corners) * neighbour_sum(u, dims, 3);
    return sum / (number(l.denominator) * pow(dx, 2));
  }

  StencilData make(const Laplacian& l, int dims = 3) {
    const Recognised r = recognise(text_of(l, dims), dx, dims, l.name);
    EXPECT_TRUE(r.stencil) << r.why_not;
    return r.stencil.value_or(StencilData{});
  }

  /// Second derivative of order 2 to 8 along each axis.
  StencilData along_axes(const std::vector<std::pair<int, int>>& weights, int dims) {
    Expr sum = number(0);
    for (int axis = 0; axis < dims; ++axis) {
      for (std::size_t n = 0; n < weights.size(); ++n) {
        const Expr w = arena.rational(weights[n].first, weights[n].second);
        Offset plus, minus;
        plus.d[axis] = static_cast<std::int16_t>(n);
        minus.d[axis] = static_cast<std::int16_t>(-static_cast<int>(n));
        sum = sum + (n == 0 ? w * u : w * (shift(u, plus) + shift(u, minus)));
      }
    }
    const Recognised r = recognise(sum / pow(dx, 2), dx, dims, "axis");
    EXPECT_TRUE(r.stencil) << r.why_not;
    return r.stencil.value_or(StencilData{});
  }
};

const Laplacian k7{"N", -6, 1, 0, 0, 1};
const Laplacian k19{"A", -24, 2, 1, 0, 6};
const Laplacian k15{"B", -56, 8, 0, 1, 12};
const Laplacian k27{"C", -128, 14, 3, 1, 30};
const std::vector<std::pair<int, int>> k4th{{-5, 2}, {4, 3}, {-1, 12}};
const std::vector<std::pair<int, int>> k6th{{-49, 18}, {3, 2}, {-3, 20}, {1, 90}};
const std::vector<std::pair<int, int>> k8th{{-205, 72}, {8, 5}, {-1, 5}, {8, 315}, {-1, 560}};

TEST(Stencil, Neighbours) {
  EXPECT_EQ(neighbours(3, 1).size(), 6U);
  EXPECT_EQ(neighbours(3, 2).size(), 12U);
  EXPECT_EQ(neighbours(3, 3).size(), 8U);
  EXPECT_EQ(neighbours(2, 1).size(), 4U);
  EXPECT_EQ(neighbours(2, 2).size(), 4U);
  EXPECT_EQ(neighbours(2, 3).size(), 0U);
  EXPECT_EQ(neighbours(1, 1).size(), 2U);
  Box b;
  EXPECT_TRUE(neighbour_sum(b.u, 1, 2).is_zero());
}

TEST(Stencil, RecognisedWithIntegerWeights) {
  Box b;
  const StencilData s = b.make(k27);
  EXPECT_EQ(s.offsets.size(), 27U);
  EXPECT_EQ(s.denominator, 30);
  EXPECT_EQ(s.dx_power, -2);
  std::int64_t sum = 0;
  for (const auto w : s.weights) sum += w;
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(b.along_axes(k8th, 1).denominator, 5040);
  EXPECT_EQ(b.arena.add_stencil(s), b.arena.add_stencil(b.make(k27)));
  EXPECT_NE(b.arena.add_stencil(s), b.arena.add_stencil(b.make(k19)));
}

TEST(Stencil, WhatIsNoStencilSaysWhy) {
  Box b;
  const Expr v = b.arena.load(1), u1 = shift(b.u, {{1}});
  const auto why = [&](Expr e) { return recognise(e, b.dx, 3, "s").why_not; };
  EXPECT_NE(why(b.u * b.u), "");
  EXPECT_NE(why(b.u * u1), "");
  EXPECT_NE(why(b.u - v), "");
  EXPECT_NE(why(b.u + b.number(1)), "");
  EXPECT_NE(why(b.u / b.dx + u1), "");
  EXPECT_NE(why(b.arena.symbol("a") * b.u), "");
  EXPECT_NE(why(b.arena.real(std::sqrt(2.0L)) * b.u), "");
  EXPECT_NE(why(b.number(0)), "");
  EXPECT_NE(why(b.arena.make(Op::Sin, {b.u})), "");
  EXPECT_EQ(why((u1 - b.u) / b.dx), "");
}

TEST(Stencil, Consistency) {
  Box b;
  for (const Laplacian& l : {k7, k19, k15, k27}) {
    const Consistency c = consistency(b.make(l));
    EXPECT_TRUE(c.laplacian) << l.name << c.error;
    EXPECT_EQ(c.order, 2) << l.name;
    EXPECT_EQ(c.isotropic, l.name != "N") << l.name;
  }
  const std::vector<std::pair<int, int>>* orders[] = {&k4th, &k6th, &k8th};
  for (int i = 0; i < 3; ++i) {
    for (int dims = 1; dims <= 3; ++dims) {
      const Consistency c = consistency(b.along_axes(*orders[i], dims));
      EXPECT_EQ(c.order, 4 + 2 * i);
      EXPECT_EQ(c.isotropic, dims == 1);
    }
  }
  EXPECT_FALSE(consistency(b.make({"sum", -5, 1, 0, 0, 1})).laplacian);
  EXPECT_FALSE(consistency(b.make({"twice", -12, 2, 0, 0, 1})).laplacian);
  const Expr forward = (shift(b.u, {{1}}) - b.u) / b.dx;
  EXPECT_FALSE(consistency(*recognise(forward, b.dx, 1, "d").stencil).laplacian);
  EXPECT_EQ(moment(b.make(k27), {2, 2, 0, 0}), (Rational{2, 3}));
}

TEST(Stencil, DispersionAlong100And110And111) {
  struct Row {
    const Laplacian* l;
    double half[3], one[3];  // k_eff^2/k^2 at k dx = 0.5 and 1.0
  };
  const Row rows[] = {{&k7, {.97933950, .98962664, .99307482}, {.91939539, .95902161, .97252903}},
                      {&k19, {.97933950, .97942496, .97937763}, {.91939539, .92069984, .91998388}},
                      {&k15, {.97933950, .97942496, .97956655}, {.91939539, .92069984, .92282287}},
                      {&k27, {.97933950, .97942496, .97945320}, {.91939539, .92069984, .92111948}}};
  const auto ratio = [](const StencilData& s, double k, int axes) {
    std::array<double, 4> wave{};
    for (int a = 0; a < axes; ++a) wave[static_cast<std::size_t>(a)] = k / std::sqrt(axes);
    return k_eff2(s, wave) / (k * k);
  };
  Box b;
  for (const Row& row : rows) {
    const StencilData s = b.make(*row.l);
    for (int axes = 1; axes <= 3; ++axes) {
      EXPECT_NEAR(ratio(s, 0.5, axes), row.half[axes - 1], 6e-9) << row.l->name << axes;
      EXPECT_NEAR(ratio(s, 1.0, axes), row.one[axes - 1], 6e-9) << row.l->name << axes;
    }
  }
  const double half[] = {.99932088, .99997316, .99999883};
  const double one[] = {.98983604, .99847109, .99974700};
  const std::vector<std::pair<int, int>>* orders[] = {&k4th, &k6th, &k8th};
  for (int i = 0; i < 3; ++i) {
    const StencilData s = b.along_axes(*orders[i], 1);
    EXPECT_NEAR(ratio(s, 0.5, 1), half[i], 6e-9);
    EXPECT_NEAR(ratio(s, 1.0, 1), one[i], 6e-9);
  }
}

TEST(Stencil, LargestEigenvalueAndLeapfrogLimit) {
  struct Row {
    StencilData stencil;
    Rational largest;
    double limit;  // dt/dx = 2/sqrt(largest)
  };
  Box b;
  const Row rows[] = {{b.make(k7), {12, 1}, 0.57735},
                      {b.make(k19), {16, 3}, 0.86603},
                      {b.make(k15), {28, 3}, 0.65465},
                      {b.make(k27), {92, 15}, 0.80757},
                      {b.along_axes(k4th, 3), {16, 1}, 0.5},
                      {b.along_axes(k6th, 3), {272, 15}, 0.46967},
                      {b.along_axes(k8th, 3), {2048, 105}, 0.45286}};
  for (const Row& row : rows) {
    const LargestEigenvalue e = largest_eigenvalue(row.stencil);
    EXPECT_TRUE(e.exact) << row.stencil.name;
    EXPECT_EQ(e.rational, row.largest) << row.stencil.name << " " << e.value;
    EXPECT_NEAR(2 / std::sqrt(e.value), row.limit, 6e-6);
    EXPECT_NEAR(k_eff2(row.stencil, e.at), e.value, 1e-12);
  }
}

TEST(Stencil, LargestEigenvalueInsideTheZone) {
  // (u(+2) - 2u + u(-2))/4 is largest at k dx = pi/2, (u(+1) + u(+2) + u(-1) + u(-2) - 4u)/5 at
  // cos k dx = -1/4: no corner of the zone.
  Box b;
  const auto at = [&](int n) { return shift(b.u, {{static_cast<std::int16_t>(n)}}); };
  const Expr wide = (at(2) - b.number(2) * b.u + at(-2)) / (b.number(4) * pow(b.dx, 2));
  LargestEigenvalue e = largest_eigenvalue(*recognise(wide, b.dx, 1, "wide").stencil);
  EXPECT_FALSE(e.exact);
  EXPECT_NEAR(e.value, 1, 1e-12);
  EXPECT_NEAR(e.at[0], std::numbers::pi / 2, 1e-6);
  const Expr both =
      (at(1) + at(2) + at(-1) + at(-2) - b.number(4) * b.u) / (b.number(5) * pow(b.dx, 2));
  e = largest_eigenvalue(*recognise(both, b.dx, 1, "both").stencil);
  // (4 + 1/2 + 7/4)/5
  EXPECT_NEAR(e.value, 1.25, 1e-12);
}

TEST(Stencil, SymbolAsExpressionIsTheSymbol) {
  Box b;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> angle(-3, 3);
  for (const StencilData& s :
       {b.make(k7), b.make(k27), b.along_axes(k8th, 2),
        *recognise(shift(b.u, {{1, 1}}) - b.number(3) * b.u, b.dx, 2, "lopsided").stencil}) {
    const Expr e = symbol(b.arena, s);
    for (int i = 0; i < 20; ++i) {
      const std::array<double, 4> k{angle(random), angle(random), angle(random), 0};
      const double value = evaluate(
          e, {[&](const Node& n) { return k[static_cast<std::size_t>(n.name[1] - 'x')]; }});
      EXPECT_NEAR(value, k_eff2(s, k), 1e-12);
    }
  }
}

// ---- sums over a small periodic box ---------------------------------------------------------

struct Field {
  static constexpr int n = 5;
  std::vector<double> u;
  explicit Field(unsigned seed) : u(n * n * n) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    for (double& x : u) x = value(random);
  }
  double at(int x, int y, int z) const {
    const auto wrap = [](int i) { return ((i % n) + n) % n; };
    return u[static_cast<std::size_t>((wrap(z) * n + wrap(y)) * n + wrap(x))];
  }
  template <class Value>
  double total(const Value& value) const {
    double sum = 0;
    for (int z = 0; z < n; ++z)
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) sum += value(x, y, z);
    return sum;
  }
  double value(Expr e, double dx, int x, int y, int z) const {
    return evaluate(e, {[&](const Node& node) {
                      if (node.op == Op::Symbol) return dx;
                      const auto& d = node.offset.d;
                      return at(x + d[0], y + d[1], z + d[2]);
                    }});
  }
};

TEST(Stencil, GradientEnergyMatchesTheLaplacian) {
  Box b;
  const Field f(3);
  const double dx = 0.37;
  for (const StencilData& s : {b.make(k7), b.make(k27), b.along_axes(k6th, 3)}) {
    const Expr energy = gradient_energy(s, b.u, b.dx), lap = written_out(s, b.u, b.dx);
    const double left = f.total([&](int x, int y, int z) { return f.value(energy, dx, x, y, z); });
    const double right = f.total(
        [&](int x, int y, int z) { return -0.5 * f.at(x, y, z) * f.value(lap, dx, x, y, z); });
    EXPECT_NEAR(left / right, 1, 1e-13);
    // and its variation is minus the Laplacian again
    EXPECT_EQ(expand(variation(energy, 0) + lap), b.number(0)) << s.name;
  }
}

TEST(Stencil, PlansAddUpToTheStencil) {
  Box b;
  const Field f(11);
  const Expr lopsided = b.number(2) * shift(b.u, {{1, 0, 2}}) - shift(b.u, {{-2, 1, 0}}) +
                        b.number(7) * b.u - shift(b.u, {{0, -1, -1}});
  std::vector<StencilData> all{b.make(k7),
                               b.make(k19),
                               b.make(k15),
                               b.make(k27),
                               b.make(k27, 2),
                               b.make(k7, 1),
                               b.along_axes(k8th, 3),
                               b.along_axes(k4th, 2),
                               *recognise(lopsided, b.dx, 3, "lopsided").stencil};
  for (const StencilData& s : all) {
    const auto read = [&](Offset o) { return f.at(2 + o.d[0], 2 + o.d[1], 2 + o.d[2]); };
    double direct = 0;
    for (std::size_t i = 0; i < s.offsets.size(); ++i) {
      direct += static_cast<double>(s.weights[i]) * read(s.offsets[i]);
    }
    EXPECT_NEAR(apply<double>(row_plan(s), read), direct, 1e-10) << s.name << s.dims;
    EXPECT_NEAR(apply<double>(plane_plan(s), read), direct, 1e-10) << s.name << s.dims;
    EXPECT_NEAR(apply<double>(column_plan(row_plan(s)), read), direct, 1e-10) << s.name << s.dims;
  }
}

TEST(Stencil, PlaneSumsOfThe27PointLaplacian) {
  Box b;
  const PlanePlan p = plane_plan(b.make(k27));
  EXPECT_EQ(p.march_axis, 2);
  ASSERT_EQ(p.classes.size(), 3U);  // C, F, D
  EXPECT_EQ(p.classes[0].points.size(), 1U);
  EXPECT_EQ(p.classes[1].points.size(), 4U);
  EXPECT_EQ(p.classes[2].points.size(), 4U);
  ASSERT_EQ(p.patterns.size(), 2U);
  EXPECT_EQ(p.patterns[0], (std::vector<std::int64_t>{14, 3, 1}));
  EXPECT_EQ(p.patterns[1], (std::vector<std::int64_t>{-128, 14, 3}));
  ASSERT_EQ(p.planes.size(), 3U);
  EXPECT_EQ(p.planes[0].offset, -1);
  EXPECT_EQ(p.planes[0].pattern, p.planes[2].pattern);
  EXPECT_EQ(p.planes[1].pattern, 1);
  EXPECT_EQ(p.reach, 1);
  EXPECT_EQ(p.depth, 1);
}

TEST(Stencil, RowsOfThe27PointLaplacian) {
  Box b;
  const RowPlan p = row_plan(b.make(k27));
  ASSERT_EQ(p.groups.size(), 3U);  // the centre, 4 rows beside it, 4 diagonal ones
  EXPECT_EQ(p.groups[0].rows.size(), 1U);
  EXPECT_EQ(p.groups[1].rows.size(), 4U);
  EXPECT_EQ(p.groups[2].rows.size(), 4U);
  ASSERT_EQ(p.groups[1].classes.size(), 2U);
  EXPECT_EQ(p.groups[1].classes[0].weight, 14);
  EXPECT_EQ(p.groups[1].classes[1].weight, 3);
  EXPECT_EQ(p.groups[1].classes[1].dx, (std::vector<int>{-1, 1}));
}

TEST(Stencil, WeightedRowsAreShiftedOnce) {
  Box b;
  const ColumnPlan p = column_plan(row_plan(b.make(k27)));
  EXPECT_EQ(p.here, (RowWeights{-128, 14, 3}));
  ASSERT_EQ(p.shifts.size(), 1U);
  EXPECT_EQ(p.shifts[0].weights, (RowWeights{14, 3, 1}));
  EXPECT_EQ(p.shifts[0].plus, (std::vector<int>{-1, 1}));
  EXPECT_TRUE(p.shifts[0].minus.empty());
  EXPECT_TRUE(p.shorter());  // 3 groups of rows reach along x
  // beside the centre only rows without reach: nothing is gained
  EXPECT_FALSE(column_plan(row_plan(b.make(k7))).shorter());
  // a derivative: the same rows on both sides, with opposite weights
  const Expr slope = b.number(4) * (shift(b.u, {{1}}) - shift(b.u, {{-1}})) + shift(b.u, {{1, 1}}) -
                     shift(b.u, {{-1, 1}}) + shift(b.u, {{1, -1}}) - shift(b.u, {{-1, -1}});
  const ColumnPlan d = column_plan(row_plan(*recognise(slope, b.dx, 3, "slope").stencil));
  ASSERT_EQ(d.shifts.size(), 1U);
  EXPECT_EQ(d.shifts[0].plus, std::vector<int>{-1});
  EXPECT_EQ(d.shifts[0].minus, std::vector<int>{1});
  EXPECT_TRUE(d.shorter());
}

TEST(Stencil, AdjointIsMirrored) {
  Box b;
  const StencilData forward = *recognise((shift(b.u, {{1}}) - b.u) / b.dx, b.dx, 1, "d").stencil;
  EXPECT_FALSE(is_symmetric(forward));
  EXPECT_TRUE(is_symmetric(b.make(k27)));
  const int d = b.arena.add_stencil(forward), t = b.arena.add_stencil(adjoint(forward));
  EXPECT_NE(d, t);
  EXPECT_EQ(b.arena.add_stencil(adjoint(adjoint(forward))), d);
  EXPECT_EQ(b.arena.add_stencil(adjoint(b.make(k27))), b.arena.add_stencil(b.make(k27)));
}

}  // namespace
}  // namespace vphi::algebra
