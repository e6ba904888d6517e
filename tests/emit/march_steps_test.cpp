// A march that makes several steps against as many marches of one step: the same bits, on OpenCL on
// a CPU and as CUDA source on CPU threads.
#include <gtest/gtest.h>

#include "compiler/emit/walks/march_steps.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

emit::TargetInfo gpu(program::Target language) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = false;
  target.compute_units = 4;
  target.local_bytes = 200 * 1024;
  return target;
}

// Two fields and their momenta, a field that stands still, one that a site reads of itself alone, a
// coordinate along each axis, and a factor that each step has anew.
Case waves(std::vector<std::int64_t> extent, Precision real, bool wide) {
  Case c;
  c.kernel.name = "waves";
  c.shape(extent);
  c.kernel.compute = real;
  c.kernel.dx = 0.5;
  const int u = c.array("u", true, true, true), v = c.array("v", true, true, true);
  const int p = c.array("p", true, true), q = c.array("q", true, true);
  const int w = c.array("w", true, false), mass = c.array("mass", true, false);
  const Expr dt = c.slot("dt", 0.01), t = c.slot("t", 0.3);
  Arena& m = *c.arena;
  const int dims = static_cast<int>(extent.size());
  const int lap = wide || dims < 3 ? laplacian_order4(c, dims) : laplacian27(c);
  const Expr force = m.raw(
      Op::Add, {m.stencil(lap, c.load(u)), m.raw(Op::Mul, {c.load(mass), c.load(u), c.load(v)}),
                m.stencil(lap, c.load(w)), m.raw(Op::Mul, {t, m.site(0)}), m.site(dims - 1)});
  const Expr kicked = m.raw(Op::Add, {c.load(p), m.raw(Op::Mul, {dt, force})});
  const Expr other =
      m.raw(Op::Add, {c.load(q), m.raw(Op::Mul, {dt, m.stencil(lap, c.load(v)), c.load(u)})});
  c.store(p, kicked), c.store(q, other);
  c.store(u, m.raw(Op::Add, {c.load(u), m.raw(Op::Mul, {dt, kicked})}));
  c.store(v, m.raw(Op::Add, {c.load(v), m.raw(Op::Mul, {dt, other})}));
  c.assign("t", m.raw(Op::Add, {t, m.raw(Op::Mul, {dt, t})}));
  if (real == Precision::F32) c.precision(real);
  return c;
}

struct Try {
  Case c;
  emit::StepsShape shape;
};

emit::StepsShape shape(int steps, int lanes, int lines, int rows, int stages, int ranges) {
  return {{lanes, lines, rows, stages, ranges, 1}, steps, 0, 0, {}};
}

std::vector<Try> tries() {
  const Precision d = Precision::F64, f = Precision::F32;
  std::vector<Try> list;
  list.push_back({waves({64, 12, 10}, f, false), shape(2, 8, 8, 1, 3, 2)});
  list.push_back({waves({64, 12, 10}, f, false), shape(3, 8, 8, 2, 2, 1)});
  list.push_back({waves({40, 7, 9}, d, false), shape(2, 16, 4, 2, 3, 2)});
  list.push_back({waves({32, 9, 6}, f, false), shape(2, 8, 8, 1, 2, 3)});  // a whole row
  list.push_back(
      {waves({24, 5, 4}, d, true), shape(2, 8, 8, 2, 2, 1)});  // tiles wider than the box
  list.push_back({waves({20, 13, 11}, f, true), shape(2, 8, 16, 1, 2, 2)});
  list.push_back({waves({18, 11, 7}, f, true), shape(2, 16, 8, 2, 2, 1)});   // two values a vector
  list.push_back({waves({15, 11, 7}, d, false), shape(3, 16, 8, 1, 2, 1)});  // one
  list.push_back({waves({16, 3, 3}, d, false), shape(2, 16, 4, 2, 2, 1)});
  return list;
}

State advanced(State state, const Case& c) {
  for (std::size_t i = 0; i < state.arrays.size(); ++i)
    if (c.kernel.arrays[i].next) std::swap(state.arrays[i][0], state.arrays[i][1]);
  return state;
}

void check(program::Target language,
           const std::function<State(const Case&, const program::Kernel&, const State&)>& run) {
  int number = 0;
  for (const Try& t : tries()) {
    SCOPED_TRACE(number++);
    const emit::TargetInfo target = gpu(language);
    Case together = t.c;
    together.kernel.together = t.shape.steps;
    for (kernel::ArrayParam& array : together.kernel.arrays)
      array.next = array.read && array.written;
    const program::Kernel steps =
        emit::emit_steps_in(together.kernel, target, t.c.bindings, t.shape);
    const program::Kernel one = emit::emit(t.c.kernel, target, t.c.bindings);

    const State start = random_state(t.c, 5);
    State expected = start, slow = start;
    for (int i = 0; i < t.shape.steps; ++i) {
      expected = advanced(run(t.c, one, expected), t.c);
      slow = advanced(reference(t.c, slow), t.c);
    }
    const State got = advanced(run(together, steps, start), together);
    for (std::size_t a = 0; a < got.arrays.size(); ++a)
      EXPECT_EQ(got.arrays[a][0], expected.arrays[a][0]) << t.c.kernel.arrays[a].name;
    EXPECT_EQ(got.scalars, expected.scalars);
    for (State* state : {&expected, &slow})
      for (auto& copies : state->arrays) copies[1].clear();
    EXPECT_LT(difference(expected, slow), t.c.kernel.compute == Precision::F32 ? 2e-5 : 1e-12);
  }
}

TEST(MarchSteps, OpenCLGivesTheBitsOfSingleSteps) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, run_opencl);
}

TEST(MarchSteps, CudaSourceOnThreads) { check(program::Target::Cuda, run_cuda_on_threads); }

}  // namespace
}  // namespace vphi::emit_test
