// tanh, sinh, cosh, tan and atan out of exp, sin and cos, against the C library in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

struct Function {
  Op op;
  long double (*exact)(long double);
  double largest;  ///< arguments of both signs up to here
  double ulps;     ///< largest error found, in units in the last place of f64
};

const Function kFunctions[] = {
    {Op::Tanh, std::tanh, 40, 3}, {Op::Sinh, std::sinh, 700, 3}, {Op::Cosh, std::cosh, 700, 3},
    {Op::Tan, std::tan, 100, 4},  {Op::Atan, std::atan, 1e9, 3},
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

// Many magnitudes from 1e-9 on, both signs, and what no fit knows.
State arguments(const Case& c, double largest) {
  State state = random_state(c, 5);
  auto& x = state.arrays[0][0];
  const double decades = std::log10(largest) + 9;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(x.size() - 1);
    x[i] = (i % 2 == 0 ? 1 : -1) * std::pow(10.0, decades * at - 9);
    if (c.kernel.compute == Precision::F32) x[i] = static_cast<float>(x[i]);
  }
  return state;
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
      const State start = arguments(c, f32 ? std::min(f.largest, 85.0) : f.largest);
      const State got = run_native(c, kernel, start, "g++",
                                   "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
      double worst = 0;
      for (std::size_t i = 0; i < start.arrays[0][0].size(); ++i) {
        const double x = start.arrays[0][0][i];
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
    EXPECT_TRUE(std::isnan(y[2])) << algebra::info(f.op).name;
    EXPECT_EQ(y[3], static_cast<double>(f.exact(0))) << algebra::info(f.op).name;
    if (f.op == Op::Tan) continue;  // none there
    EXPECT_EQ(y[0], static_cast<double>(f.exact(inf))) << algebra::info(f.op).name;
    EXPECT_EQ(y[1], static_cast<double>(f.exact(-inf))) << algebra::info(f.op).name;
  }
}

}  // namespace
}  // namespace vphi::emit_test
