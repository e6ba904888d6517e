// The passes for devices, a table each: the result, and that its value is unchanged.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/tape.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Op;

double value_of(Expr expr) {
  Tape tape;
  const int at = tape.add(expr);
  std::vector<double> values(tape.operations.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tape::Operation& operation = tape.operations[i];
    const algebra::Node& node = *operation.node;
    if (node.op == Op::Number) {
      values[i] = static_cast<double>(node.number.real);
    } else if (node.op == Op::Load) {
      values[i] = 0.7 + 0.4 * node.index;
    } else if (node.op == Op::Symbol) {
      values[i] = 1.3 + 0.2 * (node.name[0] - 'a');
    } else {
      values[i] = apply<double>(node.op, operation.args, values);
    }
  }
  return values[static_cast<std::size_t>(at)];
}

struct Site {
  Arena arena;
  Expr u = arena.load(0), v = arena.load(1), w = arena.load(2);
  Expr a = arena.symbol("a"), h = arena.symbol("h");  // the same everywhere; held by a walk

  Expr n(std::int64_t value) { return arena.integer(value); }
  Expr op(Op which, std::vector<Expr> args) { return arena.raw(which, std::move(args)); }
  Expr add(Expr x, Expr y) { return op(Op::Add, {x, y}); }
  Expr sub(Expr x, Expr y) { return op(Op::Sub, {x, y}); }
  Expr mul(Expr x, Expr y) { return op(Op::Mul, {x, y}); }
  Expr div(Expr x, Expr y) { return op(Op::Div, {x, y}); }
  Expr neg(Expr x) { return op(Op::Neg, {x}); }
  Expr root(Expr x) { return op(Op::Sqrt, {x}); }
  Expr over_root(Expr x) { return op(Op::Pow, {x, arena.rational(-1, 2)}); }

  /// A function with these stores, approximate; `walked`: `h` is held.
  SiteFunction function(const std::vector<Expr>& values, bool walked) {
    SiteFunction f;
    f.kernel.fast = true;
    for (std::size_t i = 0; i < values.size(); ++i)
      f.kernel.stores.push_back({static_cast<int>(i) + 10, values[i]});
    if (walked) f.held.push_back({"h", u});
    return f;
  }
};

struct Row {
  const char* what;
  std::vector<Expr> before, after;
};

void compare(Site& s, SiteFunction (*pass)(SiteFunction), bool walked,
             const std::vector<Row>& table) {
  for (const Row& row : table) {
    const SiteFunction result = pass(s.function(row.before, walked));
    for (std::size_t i = 0; i < row.before.size(); ++i) {
      const Expr after = result.kernel.stores[i].value;
      EXPECT_EQ(after, row.after[i]) << row.what << ": " << algebra::to_text(after);
      const double value = value_of(row.before[i]);
      EXPECT_NEAR(value_of(after), value, 1e-14 * std::abs(value)) << row.what;
      // what has been done is not done again
      SiteFunction again = pass(result);
      EXPECT_EQ(again.kernel.stores[i].value, after) << row.what;
    }
  }
}

TEST(Reciprocals, OneForAllPowers) {
  Site s;
  const Expr over_u = s.div(s.n(1), s.u), over_h = s.div(s.n(1), s.h);
  const Expr u2 = s.mul(s.u, s.u), h2 = s.mul(s.h, s.h);
  const Expr whole = s.root(s.add(s.v, s.w));
  compare(
      s, reciprocals, true,
      {{"x and x^2",
        {s.div(s.v, s.u), s.div(s.w, u2)},
        {s.mul(s.v, over_u), s.op(Op::Mul, {s.w, over_u, over_u})}},
       {"of a held value",
        {s.div(s.n(1), s.h), s.div(s.v, h2)},
        {over_h, s.op(Op::Mul, {s.v, over_h, over_h})}},
       {"x^3 as a power",
        {s.div(s.v, s.u), s.div(s.n(1), s.op(Op::Pow, {s.u, s.n(3)}))},
        {s.mul(s.v, over_u), s.op(Op::Mul, {over_u, over_u, over_u})}},
       {"one power alone", {s.div(s.v, s.u), s.div(s.w, s.u)}, {s.div(s.v, s.u), s.div(s.w, s.u)}},
       {"a root that only divides", {s.div(s.v, s.root(s.u))}, {s.mul(s.v, s.over_root(s.u))}},
       {"1 over it", {s.div(s.n(1), s.root(s.w))}, {s.over_root(s.w)}},
       {"a root with another use", {s.div(s.v, whole), whole}, {s.div(s.v, whole), whole}},
       {"the same everywhere",
        {s.mul(s.u, s.div(s.a, s.root(s.a)))},
        {s.mul(s.u, s.div(s.a, s.root(s.a)))}},
       {"within a quotient",
        {s.div(s.div(s.v, s.u), s.root(s.div(s.w, u2)))},
        {s.mul(s.mul(s.v, over_u), s.over_root(s.op(Op::Mul, {s.w, over_u, over_u})))}}});
}

TEST(Reciprocals, OfWalksAlone) {
  Site s;
  const Expr quotient = s.div(s.v, s.root(s.u));
  compare(s, reciprocals, false, {{"not walked", {quotient}, {quotient}}});
  SiteFunction exact = s.function({quotient}, true);
  exact.kernel.fast = false;
  EXPECT_EQ(reciprocals(exact).kernel.stores[0].value, quotient);
}

TEST(Reciprocals, WhatIsHeldIsChangedToo) {
  Site s;
  SiteFunction f = s.function({s.div(s.v, s.u)}, true);
  f.held[0].value = s.div(s.w, s.mul(s.u, s.u));
  const SiteFunction result = reciprocals(f);
  const Expr over = s.div(s.n(1), s.u);
  EXPECT_EQ(result.kernel.stores[0].value, s.mul(s.v, over));
  EXPECT_EQ(result.held[0].value, s.op(Op::Mul, {s.w, over, over}));
}

TEST(Sums, ProductsBecomeMultiplyAdds) {
  Site s;
  const Expr uv = s.mul(s.u, s.v), vw = s.mul(s.v, s.w), wu = s.mul(s.w, s.u);
  const Expr shared = s.add(uv, s.w);
  compare(s, sums, false,
          {{"u*v + w", {s.add(uv, s.w)}, {s.add(s.w, uv)}},
           {"u*v - v*w + w", {s.add(s.sub(uv, vw), s.w)}, {s.op(Op::Add, {s.w, uv, s.neg(vw)})}},
           {"no term but products", {s.add(uv, vw)}, {s.add(uv, vw)}},
           {"it starts with one that is none", {s.add(s.w, uv)}, {s.add(s.w, uv)}},
           {"u*v - w", {s.sub(uv, s.w)}, {s.sub(uv, s.w)}},
           {"u*v - (v*w - w)", {s.sub(uv, s.sub(vw, s.w))}, {s.op(Op::Add, {s.w, uv, s.neg(vw)})}},
           {"a number's sign",
            {s.add(s.sub(uv, s.op(Op::Mul, {s.n(-2), s.v, s.w})), s.w)},
            {s.op(Op::Add, {s.w, uv, s.op(Op::Mul, {s.n(2), s.v, s.w})})}},
           {"-1 times",
            {s.add(s.add(uv, s.op(Op::Mul, {s.n(-1), s.v, s.w})), s.w)},
            {s.op(Op::Add, {s.w, uv, s.neg(vw)})}},
           {"a sum with another use is one term",
            {s.add(s.mul(s.w, s.w), shared), shared},
            {s.add(s.add(s.w, uv), s.mul(s.w, s.w)), s.add(s.w, uv)}},
           {"inside a function",
            {s.op(Op::Exp, {s.add(wu, s.v)})},
            {s.op(Op::Exp, {s.add(s.v, wu)})}}});
}

TEST(Sums, WhereManyNumbersAreReadTheOrderStays) {
  Site s;
  std::vector<Expr> values;
  for (int i = 0; i < static_cast<int>(kManyReads) / 2; ++i)
    values.push_back(s.add(s.mul(s.arena.load(2 * i), s.u), s.arena.load(2 * i + 1)));
  const SiteFunction many = sums(s.function(values, false));
  EXPECT_EQ(many.kernel.stores[1].value, values[1]);
  values.pop_back();
  const SiteFunction few = sums(s.function(values, false));
  EXPECT_EQ(few.kernel.stores[1].value, s.add(s.arena.load(3), s.mul(s.arena.load(2), s.u)));
}

// Values of both signs: 0.7, 1.1 and 1.5 of the reads, -0.3 and -0.4 of their differences.
TEST(Minmods, TheLimiterOfASlope) {
  Site s;
  const Expr a = s.u, b = s.sub(s.v, s.n(1)), c = s.sub(s.n(1), s.w), zero = s.n(0);
  const auto max = [&](Expr x, Expr y) { return s.op(Op::Max, {x, y}); };
  const auto min = [&](Expr x, Expr y) { return s.op(Op::Min, {x, y}); };
  const auto limiter = [&](Expr x, Expr y, Expr z) {
    return max(min(zero, max(y, z)), min(x, max(zero, min(y, z))));
  };
  const auto minmod = [&](Expr x, Expr y, Expr z) { return s.op(Op::Minmod, {x, y, z}); };
  const Expr other_pair = max(min(zero, max(b, c)), min(a, max(zero, min(b, s.v))));
  const Expr no_zero = max(min(s.w, max(b, c)), min(a, max(zero, min(b, c))));
  compare(s, minmods, true,
          {{"all positive", {limiter(a, b, s.w)}, {minmod(a, b, s.w)}},
           {"all negative", {limiter(s.neg(a), s.neg(b), c)}, {minmod(s.neg(a), s.neg(b), c)}},
           {"both signs", {limiter(a, b, c)}, {minmod(a, b, c)}},
           {"the first of another sign", {limiter(s.neg(a), b, s.w)}, {minmod(s.neg(a), b, s.w)}},
           {"written the other way round",
            {max(min(max(zero, min(c, b)), a), min(max(b, c), zero))},
            {minmod(a, b, c)}},
           {"one within another",
            {limiter(limiter(a, b, s.w), s.v, s.w)},
            {minmod(minmod(a, b, s.w), s.v, s.w)}},
           {"of two different pairs", {other_pair}, {other_pair}},
           {"a bound that is not 0", {no_zero}, {no_zero}}});
  compare(s, minmods, false, {{"not walked", {limiter(a, b, c)}, {limiter(a, b, c)}}});
  const auto lowest = [&](Expr x, Expr y, Expr z) { return min(min(x, y), z); };
  const auto highest = [&](Expr x, Expr y, Expr z) { return max(z, max(x, y)); };
  const auto slope = [&](Expr x, Expr y, Expr z) {
    return s.add(max(zero, lowest(x, y, z)), min(zero, highest(x, y, z)));
  };
  const Expr of_two = s.add(min(max(a, b), zero), max(min(a, b), zero));
  const Expr of_others = s.add(max(zero, lowest(a, b, c)), min(zero, highest(a, b, s.w)));
  const std::vector<Row> sums = {
      {"a sum, all positive", {slope(a, b, s.w)}, {minmod(a, b, s.w)}},
      {"a sum, all negative", {slope(s.neg(a), s.neg(b), c)}, {minmod(s.neg(a), s.neg(b), c)}},
      {"a sum, both signs", {slope(a, b, c)}, {minmod(a, b, c)}},
      {"of two", {of_two}, {minmod(a, b, b)}},
      {"of different numbers", {of_others}, {of_others}}};
  compare(s, minmods, true, sums);
  SiteFunction written_out = s.function({slope(a, b, c)}, false);
  written_out.kernel.fast = false;
  EXPECT_EQ(minmods(written_out).kernel.stores[0].value, slope(a, b, c));
  written_out.kernel.written_out = true;
  EXPECT_EQ(minmods(written_out).kernel.stores[0].value, minmod(a, b, c));
  SiteFunction single = s.function({limiter(a, b, c)}, true);
  single.kernel.compute = Precision::F32;
  EXPECT_EQ(minmods(single).kernel.stores[0].value, limiter(a, b, c));
}

TEST(PairedAngles, SineAndCosineOfOne) {
  Site s;
  const auto sin = [&](Expr x) { return s.op(Op::Sin, {x}); };
  const auto cos = [&](Expr x) { return s.op(Op::Cos, {x}); };
  const Expr x = s.mul(s.u, s.v);
  const struct {
    const char* what;
    std::vector<Expr> values, paired, with_all;
  } table[] = {
      {"of one angle", {s.add(sin(x), s.w), cos(x)}, {x}, {x}},
      {"of two angles", {sin(x), cos(s.u)}, {}, {x, s.u}},
      {"another angle beside", {sin(x), cos(x), sin(s.v)}, {x}, {x, s.v}},
      {"within an angle", {sin(cos(x)), cos(cos(x)), sin(x)}, {cos(x), x}, {cos(x), x}},
      {"the same everywhere", {s.mul(s.u, sin(s.a)), s.mul(s.u, cos(s.a))}, {}, {}},
  };
  for (const auto& row : table)
    for (const bool walked : {false, true}) {
      SiteFunction function = s.function(row.values, walked);
      const SiteFunction result = paired_angles(function);
      EXPECT_EQ(result.kernel.paired_angles, row.paired) << row.what;
      for (std::size_t i = 0; i < row.values.size(); ++i)
        EXPECT_EQ(result.kernel.stores[i].value, row.values[i]) << row.what;
      function.kernel.pairs_all_angles = true;
      EXPECT_EQ(paired_angles(function).kernel.paired_angles, row.with_all) << row.what;
    }
}

TEST(PairedAngles, NoneWithApproximateFunctions) {
  Site s;
  SiteFunction single =
      s.function({s.op(Op::Sin, {s.u}), s.op(Op::Cos, {s.u}), s.op(Op::Sin, {s.v})}, false);
  single.kernel.compute = Precision::F32;
  single.kernel.pairs_all_angles = true;
  EXPECT_TRUE(paired_angles(single).kernel.paired_angles.empty());
  single.kernel.fast = false;
  EXPECT_EQ(paired_angles(single).kernel.paired_angles, std::vector<Expr>{s.u})
      << "all angles in f64, and where functions are written out";
  single.kernel.written_out = true;
  EXPECT_EQ(paired_angles(single).kernel.paired_angles, (std::vector<Expr>{s.u, s.v}));
}

TEST(PairedAngles, InsideStencils) {
  Site s;
  algebra::StencilData data;
  data.name = "lap";
  data.dims = 1;
  data.offsets = {{{-1}}, {{0}}, {{1}}};
  data.weights = {1, -2, 1};
  const int laplacian = s.arena.add_stencil(data);
  const auto stencil = [&](Expr x) {
    return s.arena.canonical(Op::Stencil, std::vector<Expr>{x}, {}, laplacian);
  };
  const Expr sine = s.op(Op::Sin, {s.u}), cosine = s.op(Op::Cos, {s.u});
  const Expr below = s.arena.load(0, {{-1}}), above = s.arena.load(0, {{1}});
  const Expr inside = stencil(s.mul(sine, s.v));
  EXPECT_EQ(
      paired_angles(s.function({inside, stencil(s.mul(cosine, s.v))}, false)).kernel.paired_angles,
      (std::vector<Expr>{below, s.u, above}));
  // the neighbours' sines stand without their cosines
  EXPECT_EQ(paired_angles(s.function({inside, cosine}, false)).kernel.paired_angles,
            std::vector<Expr>{s.u});
}

TEST(TableIndices, OfWalksThatReadTables) {
  Site s;
  const int table = s.arena.add_table({1, 2, 3, 4, 5, 6});
  const auto index = [&](Expr x, Expr low, Expr high) {
    return s.op(Op::Min, {s.op(Op::Max, {s.op(Op::Floor, {x}), low}), high});
  };
  const auto read = [&](Expr at) { return s.op(Op::Lookup, {s.n(table), at}); };
  const auto found = [&](Expr x, int low, int high) {
    return s.op(Op::TableIndex, {x, s.n(low), s.n(high)});
  };
  const Expr x = s.op(Op::Mul, {s.n(4), s.u});
  const Expr at = index(x, s.n(0), s.n(5)), half = index(x, s.arena.rational(1, 2), s.n(5));
  const Expr turned = s.op(Op::Min, {s.n(5), s.op(Op::Max, {s.n(0), s.op(Op::Floor, {x})})});
  const auto passed = [&](const std::vector<Expr>& values, bool walked) {
    return table_indices(s.function(values, walked)).kernel.stores[0].value;
  };
  EXPECT_EQ(passed({read(at)}, true), read(found(x, 0, 5)));
  EXPECT_EQ(passed({s.sub(x, at), read(at)}, true), s.sub(x, found(x, 0, 5)));
  EXPECT_EQ(passed({read(turned)}, true), read(found(x, 0, 5)));
  EXPECT_EQ(passed({read(half)}, true), read(half)) << "no whole number";
  EXPECT_EQ(passed({read(at)}, false), read(at)) << "not walked";
  EXPECT_EQ(passed({s.mul(at, s.w)}, true), s.mul(at, s.w)) << "no table is read";
  for (const Expr of : {x, s.neg(x), s.mul(s.n(9), s.u)})
    EXPECT_EQ(value_of(found(of, 0, 5)), value_of(index(of, s.n(0), s.n(5))));
}

TEST(DevicePasses, EndWithTheOneThatIsNamed) {
  Site s;
  const Expr sum = s.add(s.mul(s.u, s.v), s.w);
  EXPECT_EQ(for_device(s.function({sum}, false), "reciprocals").kernel.stores[0].value, sum);
  EXPECT_EQ(for_device(s.function({sum}, false), "sums").kernel.stores[0].value,
            s.add(s.w, s.mul(s.u, s.v)));
  EXPECT_EQ(for_device(s.function({sum}, false)).kernel.stores[0].value,
            s.add(s.w, s.mul(s.u, s.v)));
}

}  // namespace
}  // namespace vphi::kernel
