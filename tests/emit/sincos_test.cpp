// Sine and cosine written out: against the C library in long double on every device, and the
// pattern that loads and stores sites as vectors.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

Case both(std::int64_t sites, Precision real) {
  Case c;
  c.kernel.name = "turns";
  c.shape({sites});
  const int x = c.array("x", true, true), sine = c.array("s", false, true),
            cosine = c.array("c", false, true);
  Arena& m = *c.arena;
  const Expr s = m.raw(Op::Sin, {c.load(x)}), k = m.raw(Op::Cos, {c.load(x)});
  c.store(sine, s);
  c.store(cosine, k);
  c.store(x, m.raw(Op::Add, {c.load(x), m.integer(1)}));
  c.slot("total");
  c.sum("total", k);
  c.precision(real);
  return c;
}

// Around multiples of pi/2, where the reduction cancels, and over many magnitudes of both signs.
State angles(const Case& c, double largest) {
  State state = random_state(c, 5);
  auto& x = state.arrays[0][0];
  const double quarter = std::acos(-1.0) / 2;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = std::pow(largest, static_cast<double>(i / 4 % 97) / 96);
    const double sign = i % 2 == 0 ? 1 : -1;
    x[i] =
        sign * (i % 4 < 2 ? size * (0.5 + x[i]) : quarter * std::round(size) * (1 + 1e-9 * x[i]));
    if (c.kernel.compute == Precision::F32) x[i] = static_cast<float>(x[i]);
  }
  return state;
}

void compare(const Case& c, const State& start, const State& got, double tolerance) {
  long double total = 0;
  for (std::size_t i = 0; i < start.arrays[0][0].size(); ++i) {
    const long double x = start.arrays[0][0][i];
    ASSERT_NEAR(got.arrays[1][0][i], static_cast<double>(std::sin(x)), tolerance) << double(x);
    ASSERT_NEAR(got.arrays[2][0][i], static_cast<double>(std::cos(x)), tolerance) << double(x);
    total += std::cos(x);
  }
  EXPECT_NEAR(got.scalars[0], static_cast<double>(total),
              tolerance * static_cast<double>(start.arrays[0][0].size()));
  (void)c;
}

using Run = std::function<State(const Case&, const program::Kernel&, const State&)>;

void check(program::Target language, bool cpu, std::int64_t sites, const Run& run) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = cpu;
  target.compute_units = 1;
  for (const bool contract : {true, false})
    for (const Precision real : {Precision::F64, Precision::F32}) {
      target.contract = contract;
      const bool f32 = real == Precision::F32;
      const Case c = both(sites, real);
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      EXPECT_NE(kernel.source.find("vphi_sin_"), std::string::npos);
      State start = angles(c, f32 ? 1e3 : 1e5);
      compare(c, start, run(c, kernel, start), f32 ? 2e-7 : 3e-16);
      // no value rather than a wrong one where neighbouring numbers are far apart
      start.arrays[0][0].assign(start.arrays[0][0].size(), f32 ? 1e7 : 1e16);
      const State none = run(c, kernel, start);
      EXPECT_TRUE(std::isnan(none.arrays[1][0][3]) && std::isnan(none.arrays[2][0][3]));
      if (language == program::Target::Cuda) break;  // slow there
    }
}

TEST(SinCos, Native) {
  check(program::Target::Native, true, 4003,
        [](const Case& c, const program::Kernel& kernel, const State& start) {
          return run_native(c, kernel, start, "g++",
                            "-O2 -march=native -Wall -Wextra -Werror -Wno-unknown-pragmas");
        });
}
TEST(SinCos, OpenCL) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, true, 4003, run_opencl);
  check(program::Target::OpenCL, false, 4003, run_opencl);
}
// Enough sites that a thread takes several vectors, and three sites more.
TEST(SinCos, VectorsOpenCL) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, false, 16 * 256 * 32 + 3, run_opencl);
}
TEST(SinCos, CudaOnThreads) { check(program::Target::Cuda, false, 4003, run_cuda_on_threads); }
TEST(SinCos, VectorsCudaOnThreads) {
  check(program::Target::Cuda, false, 16 * 256 * 32 + 3, run_cuda_on_threads);
}

}  // namespace
}  // namespace vphi::emit_test
