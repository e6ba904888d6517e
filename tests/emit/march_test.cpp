// The march along z against the slow reference: OpenCL on a CPU, and CUDA source on CPU threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/emit/walks/march.hpp"
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

// Reach 2, a derivative, explicit neighbours, coordinates, extrema; four arrays.
Case mixture(std::vector<std::int64_t> extent, Precision real) {
  Case c;
  c.kernel.name = "mixture";
  c.shape(extent);
  c.kernel.compute = real;
  c.kernel.dx = 0.5;
  const int u = c.array("u", true, true, true), v = c.array("v", true, false);
  const int p = c.array("p", true, true), w = c.array("w", false, true);
  const Expr dt = c.slot("dt", 0.01);
  c.slot("low"), c.slot("high"), c.slot("sum");
  Arena& m = *c.arena;
  const int lap = laplacian_order4(c, 3);
  const int slope = c.stencil("slope", {at(1, 0, 0), at(-1, 0, 0), at(0, 1, 1), at(0, -1, -1)},
                              {1, -1, 2, -2}, 2, -1);
  const Expr lu = m.stencil(lap, c.load(u)), su = m.stencil(slope, c.load(u));
  const Expr sv = m.stencil(slope, c.load(v));
  const Expr kicked =
      m.raw(Op::Add, {c.load(p), m.raw(Op::Mul, {dt, lu}), m.raw(Op::Mul, {su, sv})});
  c.store(p, kicked);
  c.store(u, m.raw(Op::Add, {c.load(u), m.raw(Op::Mul, {dt, kicked})}));
  c.store(w, m.raw(Op::Add, {c.load(v, 0, 1, -1), m.site(0), m.site(1), m.site(2)}));
  c.sum("low", kicked, kernel::ReduceKind::Minimum);
  c.sum("high", kicked, kernel::ReduceKind::Maximum);
  c.sum("sum", m.raw(Op::Mul, {kicked, kicked}));
  return c;
}

// A plane stencil: nothing is carried along the march.
Case flat(std::vector<std::int64_t> extent) {
  Case c;
  c.kernel.name = "flat";
  c.shape(extent);
  const int u = c.array("u", true, true, true);
  Arena& m = *c.arena;
  const int slope = c.stencil("slope", {at(1), at(-1), at(0, -1)}, {1, -1, 5});
  c.store(u, m.raw(Op::Mul, {c.load(u), m.stencil(slope, c.load(u))}));
  return c;
}

Case with(Case c, Boundary x, Boundary y, Boundary z) {
  c.kernel.boundary = {x, y, z, Boundary::Periodic};
  c.kernel.fixed_value = 0.25;
  return c;
}

struct Try {
  Case c;
  emit::MarchShape shape;
};

std::vector<Try> tries() {
  const Precision d = Precision::F64, f = Precision::F32;
  std::vector<Try> list;
  list.push_back({preheating({64, 4, 6}, d), {16, 2, 1, 3, 2, 1}});
  list.push_back({preheating({64, 4, 7}, d), {32, 2, 1, 4, 3, 1}});   // a whole row, uneven ranges
  list.push_back({preheating({128, 4, 5}, d), {64, 2, 1, 3, 1, 1}});  // two warps a row
  list.push_back({preheating({64, 8, 6}, f), {8, 4, 2, 4, 2, 1}});
  list.push_back({preheating({64, 12, 6}, f), {16, 2, 3, 2, 6, 1}});
  list.push_back({mixture({32, 8, 9}, d), {8, 4, 1, 3, 2, 1}});
  list.push_back({mixture({16, 8, 5}, d), {8, 4, 2, 4, 1, 1}});
  list.push_back({mixture({64, 4, 8}, f), {8, 4, 1, 4, 3, 1}});
  list.push_back({flat({16, 8, 5}), {8, 4, 1, 3, 2, 1}});
  // Rows and tiles of any length: lanes that are not a power of two, surplus threads, short
  // vectors, tiles that hang over the end.
  list.push_back({preheating({100, 6, 5}, f), {25, 3, 1, 3, 1, 1}});
  list.push_back({preheating({40, 10, 6}, f), {5, 4, 2, 2, 2, 1}});
  list.push_back({preheating({18, 10, 5}, f), {9, 4, 1, 3, 1, 1}});
  list.push_back({preheating({33, 5, 6}, d), {33, 2, 1, 3, 2, 1}});
  list.push_back({mixture({36, 7, 5}, d), {18, 4, 1, 3, 1, 1}});
  list.push_back({mixture({24, 9, 5}, f), {6, 3, 2, 3, 1, 1}});
  const auto P = Boundary::Periodic, A = Boundary::Antiperiodic, F = Boundary::Fixed,
             N = Boundary::Neumann, O = Boundary::Outflow;
  list.push_back({with(preheating({32, 8, 6}, f), P, A, F), {8, 4, 1, 3, 2, 1}});
  list.push_back({with(preheating({32, 8, 6}, d), F, N, A), {16, 4, 1, 3, 2, 1}});
  list.push_back({with(preheating({128, 6, 5}, f), A, F, N), {32, 4, 1, 3, 1, 1}});
  list.push_back({with(mixture({16, 8, 5}, d), O, A, F), {8, 4, 1, 3, 2, 1}});
  list.push_back({with(mixture({36, 7, 6}, f), F, O, O), {9, 4, 1, 3, 2, 1}});
  list.push_back({with(preheating({15, 7, 5}, d), A, A, A), {15, 3, 1, 3, 1, 1}});
  return list;
}

double tolerance(const Case& c) { return c.kernel.compute == Precision::F32 ? 5e-6 : 1e-13; }

void check(program::Target language,
           const std::function<State(const Case&, const program::Kernel&, const State&)>& run) {
  int number = 0;
  for (const Try& t : tries()) {
    SCOPED_TRACE(std::to_string(number++) + " " + t.c.kernel.name);
    const emit::TargetInfo target = gpu(language);
    const emit::Job job = emit::make_job(t.c.kernel, target, t.c.bindings);
    ASSERT_TRUE(emit::fits(job, t.shape));
    const program::Kernel kernel = emit::emit_march(job, t.c.bindings, t.shape);
    const State start = random_state(t.c, 5), expected = reference(t.c, start);
    const State got = run(t.c, kernel, start);
    EXPECT_LT(difference(got, expected), tolerance(t.c)) << kernel.source;
    const State again = run(t.c, kernel, start);
    EXPECT_EQ(again.scalars, got.scalars) << "not the same bits";
  }
}

TEST(March, OpenCLAgreesWithTheReference) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, run_opencl);
}

TEST(March, CudaOnThreadsAgreesWithTheReference) {
  check(program::Target::Cuda, run_cuda_on_threads);
}

TEST(March, IsChosenWhereItApplies) {
  const auto chosen = [](const Case& c, program::Target language) {
    return emit::choose_march(emit::make_job(c.kernel, gpu(language), c.bindings)).has_value();
  };
  EXPECT_TRUE(chosen(preheating({128, 128, 128}, Precision::F32), program::Target::Cuda));
  EXPECT_TRUE(chosen(preheating({128, 128, 128}, Precision::F64), program::Target::OpenCL));
  EXPECT_TRUE(chosen(preheating({96, 96, 96}, Precision::F64), program::Target::Cuda));
  EXPECT_TRUE(chosen(preheating({100, 99, 98}, Precision::F32), program::Target::Cuda));
  EXPECT_TRUE(chosen(preheating({101, 101, 101}, Precision::F64), program::Target::OpenCL));
  Case bounded = preheating({96, 64, 64}, Precision::F32);
  bounded.kernel.boundary = {Boundary::Fixed, Boundary::Neumann, Boundary::Antiperiodic,
                             Boundary::Periodic};
  EXPECT_TRUE(chosen(bounded, program::Target::Cuda));
  Case mirrored = mixture({64, 64, 64}, Precision::F32);  // reach 2
  mirrored.kernel.boundary[1] = Boundary::Neumann;
  EXPECT_FALSE(chosen(mirrored, program::Target::Cuda));
}

// A kernel of one or two dimensions: stencils of reach `reach`, single neighbours, the coordinates
// of each axis, extrema and sums.
Case few_dimensions(std::vector<std::int64_t> extent, Precision real, int reach) {
  Case c;
  c.kernel.name = "few";
  c.shape(extent);
  c.kernel.compute = real;
  c.kernel.dx = 0.5;
  const bool plane = extent.size() > 1;
  const int u = c.array("u", true, true, true), p = c.array("p", true, true);
  const Expr dt = c.slot("dt", 0.01);
  c.slot("low"), c.slot("high"), c.slot("sum");
  Arena& m = *c.arena;
  const int lap = plane ? c.stencil("lap", {at(0), at(reach), at(-1), at(0, 1), at(0, -reach)},
                                    {-5, 1, 1, 1, 2}, 1, -2)
                        : c.stencil("lap", {at(0), at(reach), at(-1)}, {-3, 1, 2}, 1, -2);
  const Expr lu = m.stencil(lap, c.load(u));
  Expr places = m.site(0);
  if (plane) places = m.raw(Op::Add, {places, m.raw(Op::Mul, {m.integer(3), m.site(1)})});
  const Expr next = plane ? c.load(u, 1, -1) : c.load(u, 1);
  const Expr kicked = m.raw(Op::Add, {c.load(p), m.raw(Op::Mul, {dt, lu}),
                                      m.raw(Op::Mul, {dt, places}), m.raw(Op::Mul, {dt, next})});
  c.store(p, kicked);
  c.store(u, m.raw(Op::Add, {c.load(u), m.raw(Op::Mul, {dt, kicked})}));
  c.sum("low", kicked, kernel::ReduceKind::Minimum);
  c.sum("high", kicked, kernel::ReduceKind::Maximum);
  c.sum("sum", m.raw(Op::Mul, {kicked, kicked}));
  return c;
}

// Extents that vectors and tiles divide and others; every boundary along either axis.
TEST(March, FewerDimensionsAgreeWithTheReference) {
  using enum Boundary;
  std::vector<Case> cases;
  const auto add = [&](std::vector<std::int64_t> extent, Precision real, int reach,
                       Boundary x = Periodic, Boundary y = Periodic) {
    cases.push_back(with(few_dimensions(std::move(extent), real, reach), x, y, Periodic));
  };
  const Precision f = Precision::F32, d = Precision::F64;
  for (const auto& [real, reach] : {std::pair(f, 1), std::pair(f, 2), std::pair(d, 2)}) {
    add({256, 12}, real, reach);
    add({98, 40}, real, reach);
    add({512}, real, reach);
  }
  add({98}, f, 2);
  // Every boundary along either axis, with the larger reach where it may have one; in f64 the
  // vectors are shorter, and the walls are the same.
  for (const Precision real : {f, d}) {
    add({128, 7}, real, 2, Fixed, Antiperiodic);
    add({128, 6}, real, 2, Outflow, Outflow);
    add({2048, 5}, real, 1, Neumann, Fixed);
  }
  add({128, 7}, f, 2, Periodic, Fixed);
  add({128, 8}, f, 1, Neumann, Neumann);
  add({128}, f, 2, Antiperiodic);
  add({2048}, f, 1, Antiperiodic);
  add({256}, f, 1, Fixed);
  add({2048}, f, 2, Fixed);
  add({2048}, f, 2, Outflow);
  // Each thread of CUDA is one of the processor here: a few cases, the others in OpenCL.
  int number = 0;
  for (const program::Target language : {program::Target::Cuda, program::Target::OpenCL}) {
    if (language == program::Target::OpenCL && !opencl_available()) continue;
    for (const Case& c : cases) {
      if (language == program::Target::Cuda && opencl_available() && ++number % 4 != 0) continue;
      SCOPED_TRACE(fmt::format("{} x {}, boundaries {}, {}", c.kernel.extent[0], c.kernel.extent[1],
                               static_cast<int>(c.kernel.boundary[0]),
                               static_cast<int>(c.kernel.boundary[1])));
      const emit::Job job = emit::make_job(c.kernel, gpu(language), c.bindings);
      const auto kernel = emit::march_if_it_fits(job, c.bindings);
      const bool line = c.kernel.extent[1] == 1;
      const bool four = c.kernel.compute == Precision::F32 && c.kernel.extent[0] % 4 == 0;
      ASSERT_EQ(kernel.has_value(), !line || four);
      if (!kernel) continue;
      EXPECT_NE(kernel->source.find("marches"), std::string::npos);
      const State start = random_state(c, 5), expected = reference(c, start);
      const State got = language == program::Target::Cuda ? run_cuda_on_threads(c, *kernel, start)
                                                          : run_opencl(c, *kernel, start);
      EXPECT_LT(difference(got, expected), tolerance(c)) << kernel->source;
    }
  }
}

TEST(March, CompilesWithoutSpills) {
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (shell(nvcc + " --version").first != 0) GTEST_SKIP() << "no nvcc";
  for (Precision real : {Precision::F32, Precision::F64})
    for (std::int64_t n : {128, 256, 100, 200, 101, -128}) {
      Case c = preheating({std::abs(n), std::abs(n), std::abs(n)}, real);
      if (n < 0) c = with(c, Boundary::Fixed, Boundary::Antiperiodic, Boundary::Neumann);
      emit::TargetInfo target = gpu(program::Target::Cuda);
      target.compute_units = 132;
      target.local_bytes = 227 * 1024;
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      const std::string path = write_file("march.cu", kernel.source);
      const auto [status, log] =
          shell(nvcc + " -arch=sm_90 -cubin -Xptxas -v -o " + path + ".cubin " + path);
      ASSERT_EQ(status, 0) << log << kernel.source;
      if (std::getenv("VPHI_SHOW")) std::cout << n << " " << kernel.block[0] << "\n" << log;
      EXPECT_NE(log.find("0 bytes spill stores"), std::string::npos) << log;
      EXPECT_NE(kernel.source.find("cp.async"), std::string::npos);
    }
}

}  // namespace
}  // namespace vphi::emit_test
