// Functions out of exp, log, sin and cos that compilers vectorise, against the C library in long
// double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

struct Function {
  Op op;
  long double (*exact)(long double);
  double largest;     ///< arguments of both signs up to here
  double ulps;        ///< above the largest error found, in units in the last place of f64
  double centre = 0;  ///< arguments are as close to it as 1e-9; beyond 1 there are none of asin
};

const Function kFunctions[] = {
    {Op::Tanh, std::tanh, 40, 3},        {Op::Sinh, std::sinh, 700, 3},
    {Op::Cosh, std::cosh, 700, 3},       {Op::Tan, std::tan, 100, 4},
    {Op::Atan, std::atan, 1e9, 3},       {Op::Asin, std::asin, 1, 3},
    {Op::Asin, std::asin, 2, 3, 1},      {Op::Asin, std::asin, 2, 3, -1},
    {Op::Acos, std::acos, 1, 3},         {Op::Acos, std::acos, 2, 3, 1},
    {Op::Acos, std::acos, 2, 3, -1},     {Op::Asinh, std::asinh, 1e20, 4},
    {Op::Acosh, std::acosh, 1e20, 4, 1}, {Op::Atanh, std::atanh, 1, 4},
    {Op::Atanh, std::atanh, 2, 4, 1},    {Op::Erf, std::erf, 30, 3},
};

Case one(Op op, std::int64_t sites, Precision real) {
  Case c;
  c.kernel.name = "function";
  c.shape({sites});
  const int x = c.array("x", true, false), y = c.array("y", false, true);
  Arena& m = *c.arena;
  c.store(y, m.raw(op, {c.load(x)}));
  c.slot("total");
  c.sum("total", c.load(x));
  c.precision(real);
  return c;
}

// Many distances from `centre`, from 1e-9 on, on both sides.
State arguments(const Case& c, double largest, double centre) {
  State state = random_state(c, 5);
  auto& x = state.arrays[0][0];
  const double decades = std::log10(largest) + 9;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(x.size() - 1);
    x[i] = centre + (i % 2 == 0 ? 1 : -1) * std::pow(10.0, decades * at - 9);
    if (c.kernel.compute == Precision::F32) x[i] = static_cast<float>(x[i]);
  }
  return state;
}

void expect_same(double got, double exact) {
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(got));
  } else {
    EXPECT_EQ(got, exact);
  }
}

double error_in_ulps(double got, long double exact, bool f32) {
  const int digits = f32 ? 24 : 53;
  const int exponent = exact == 0 ? 0 : std::ilogb(exact);
  return static_cast<double>(std::abs(got - exact) / std::ldexp(1.0L, exponent - digits + 1));
}

TEST(VectorMath, AgainstTheLibrary) {
  emit::TargetInfo target;
  target.target = program::Target::Native;
  target.is_cpu = true;
  target.compute_units = 1;
  for (const Function& f : kFunctions)
    for (const Precision real : {Precision::F64, Precision::F32}) {
      const bool f32 = real == Precision::F32;
      SCOPED_TRACE(std::string(algebra::info(f.op).name) + (f32 ? " f32" : " f64"));
      const Case c = one(f.op, 20003, real);
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      const State start = arguments(c, f32 ? std::min(f.largest, 85.0) : f.largest, f.centre);
      const State got = run_native(c, kernel, start, "g++",
                                   "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
      double worst = 0;
      for (std::size_t i = 0; i < start.arrays[0][0].size(); ++i) {
        const double x = start.arrays[0][0][i];
        if (!std::isfinite(f.exact(x))) {
          expect_same(got.arrays[1][0][i], static_cast<double>(f.exact(x)));
          continue;
        }
        const double off = error_in_ulps(got.arrays[1][0][i], f.exact(x), f32);
        worst = std::max(worst, off);
        ASSERT_LT(off, f32 ? 0.51 : f.ulps) << x;
      }
      RecordProperty(std::string(algebra::info(f.op).name), std::to_string(worst));
    }
}

// Infinite arguments and numbers that are none.
TEST(VectorMath, AtTheEnds) {
  emit::TargetInfo target;
  target.target = program::Target::Native;
  target.is_cpu = true;
  target.compute_units = 1;
  const double inf = std::numeric_limits<double>::infinity();
  for (const Function& f : kFunctions) {
    const Case c = one(f.op, 16, Precision::F64);
    const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
    State start = random_state(c, 5);
    start.arrays[0][0] = {inf, -inf, std::nan(""), 0, inf, -inf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const State got = run_native(c, kernel, start, "g++",
                                 "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
    const auto& y = got.arrays[1][0];
    SCOPED_TRACE(algebra::info(f.op).name);
    EXPECT_TRUE(std::isnan(y[2]));
    expect_same(y[3], static_cast<double>(f.exact(0)));
    if (f.op == Op::Tan) continue;  // none there
    expect_same(y[0], static_cast<double>(f.exact(inf)));
    expect_same(y[1], static_cast<double>(f.exact(-inf)));
  }
}

// The angle of points all around, close to the axes and the diagonals, on them and at infinity.
TEST(VectorMath, AngleOfAPoint) {
  emit::TargetInfo target;
  target.target = program::Target::Native;
  target.is_cpu = true;
  target.compute_units = 1;
  for (const Precision real : {Precision::F64, Precision::F32}) {
    Case c;
    c.kernel.name = "function";
    c.shape({4096});
    const int y = c.array("y", true, false), x = c.array("x", true, false);
    const int angle = c.array("angle", false, true);
    c.store(angle, c.arena->raw(Op::Atan2, {c.load(y), c.load(x)}));
    c.slot("total");
    c.sum("total", c.load(x));
    c.precision(real);
    State state = random_state(c, 5);
    auto &ys = state.arrays[0][0], &xs = state.arrays[1][0];
    const double inf = std::numeric_limits<double>::infinity();
    const double ends[] = {0.0, -0.0, 1.0, -1.0, inf, -inf};
    for (std::size_t i = 0; i < ys.size(); ++i) {
      const double at = static_cast<double>(i / 8) / 512.0;
      const double near = std::pow(10.0, -12 * at), whole = i % 2 == 0 ? 1 : -1;
      ys[i] = i % 8 < 4 ? whole * (1 + near) : near * whole;
      xs[i] = i % 4 < 2 ? 1 : -1;
      if (i % 8 == 7) std::swap(xs[i], ys[i]);
      if (i < 36) ys[i] = ends[i / 6], xs[i] = ends[i % 6];
      if (real == Precision::F32)
        ys[i] = static_cast<float>(ys[i]), xs[i] = static_cast<float>(xs[i]);
    }
    const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
    const State got = run_native(c, kernel, state, "g++",
                                 "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
    for (std::size_t i = 0; i < ys.size(); ++i) {
      const long double exact = std::atan2(static_cast<long double>(ys[i]), xs[i]);
      const double found = got.arrays[2][0][i];
      ASSERT_EQ(std::signbit(found), std::signbit(exact)) << ys[i] << " " << xs[i];
      ASSERT_LT(error_in_ulps(found, exact, real == Precision::F32),
                real == Precision::F32 ? 0.51 : 3)
          << ys[i] << " " << xs[i];
    }
  }
}

}  // namespace
}  // namespace vphi::emit_test
