// Walks along lines against the slow reference, on processors, through OpenCL and as CUDA source on
// threads: all axes and boundaries, boxes of any extent, values far apart along the line.
#include <gtest/gtest.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/emit/walks/lines_tile.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

/// A limited flux of two quantities with a velocity that is recovered from them, in passes, each
/// with what the one before makes: cells up to some away, in difference form.
/// `table`: the velocity is divided by pieces of lines, their squares and a root.
Case fluxes(std::vector<std::int64_t> extent, int axis, Boundary boundary, Precision real,
            bool mirror = false, int passes = 2, bool table = false) {
  Case c;
  c.kernel.name = "fluxes";
  c.shape(extent, Boundary::Periodic);
  c.kernel.boundary[static_cast<std::size_t>(axis)] = boundary;
  c.kernel.fixed_value = 0.5;
  c.kernel.compute = real;
  c.kernel.along = axis;
  const int u = c.array("u", true, true, true), m = c.array("m", true, true, true);
  const Expr dt = c.slot("dt", 0.11);
  c.slot("sum"), c.slot("low"), c.slot("first");
  Arena& a = *c.arena;
  const auto at_cell = [&](Expr value, int d) {
    Offset offset;
    offset.d[axis] = static_cast<std::int16_t>(d);
    return algebra::shift(value, offset);
  };
  const auto sub = [&](Expr x, Expr y) { return a.raw(Op::Sub, {x, y}); };
  const auto mul = [&](Expr x, Expr y) { return a.raw(Op::Mul, {x, y}); };
  const auto add = [&](Expr x, Expr y) { return a.raw(Op::Add, {x, y}); };
  // velocity of a cell; the table is continuous, with corners at eighths of the density
  const int start = a.add_table({2.5, 2.5, 2.5, 3.25, 2.875});
  const int rise = a.add_table({0, 2, 2, -1, 0});
  const auto speed = [&](Expr density, Expr momentum) {
    Expr below = add(a.integer(3), mul(density, density));
    if (table) {
      const Expr half = mul(a.integer(4), density);
      const Expr along = axis == 0 ? mul(a.integer(8), density) : add(half, half);
      const Expr floor = a.raw(Op::Floor, {along});
      const Expr piece = a.raw(Op::Min, {a.integer(3), a.raw(Op::Max, {a.integer(-1), floor})});
      const Expr at = a.raw(Op::Add, {piece, a.integer(1)});
      below = add(a.lookup(start, at), mul(density, a.lookup(rise, at)));
    }
    const Expr plain = a.raw(Op::Div, {momentum, below});
    if (!table) return plain;
    const Expr root = a.raw(Op::Sqrt, {add(below, density)});
    return add(add(plain, a.raw(Op::Div, {density, mul(below, below)})),
               a.raw(Op::Div, {momentum, root}));
  };
  const auto pass = [&](Expr v, Expr quantity) {
    const Expr slope = sub(at_cell(quantity, 1), quantity);
    const Expr limited =
        a.raw(Op::Max, {a.integer(0), a.raw(Op::Min, {slope, at_cell(slope, -1)})});
    const Expr flux =
        mul(mul(dt, add(v, at_cell(v, 1))), add(quantity, a.raw(Op::Div, {limited, a.integer(2)})));
    return sub(quantity, sub(flux, at_cell(flux, -1)));
  };
  const Expr uc = c.load(u), mc = c.load(m), v = speed(uc, mc);
  Expr middle = v;
  for (int i = 1; i < passes; ++i) middle = speed(pass(middle, uc), pass(middle, mc));
  Expr u_new = pass(middle, uc), m_new = add(pass(middle, mc), mul(dt, a.site((axis + 1) % 3)));
  const Expr first =
      a.raw(Op::Select, {a.raw(Op::Equal, {a.site(axis), a.integer(0)}), u_new, a.integer(0)});
  const auto images = [&](Expr value) {
    if (!mirror) return value;
    const std::int64_t n = c.kernel.extent[static_cast<std::size_t>(axis)];
    return algebra::rewrite(value, [&](Expr node) -> Expr {
      const int d = node.is(Op::Load) && node->index == m ? node->offset.d[axis] : 0;
      if (d == 0) return node;
      const Expr site = a.site(axis);
      const Expr beyond = d < 0 ? a.raw(Op::Less, {site, a.integer(-d)})
                                : a.raw(Op::Less, {a.integer(n - 1 - d), site});
      return a.raw(Op::Select, {beyond, a.raw(Op::Neg, {node}), node});
    });
  };
  c.store(u, images(u_new));
  c.store(m, images(m_new));
  c.sum("sum", images(mul(u_new, m_new)));
  c.sum("low", images(u_new), kernel::ReduceKind::Minimum);
  c.sum("first", images(first));
  return c;
}

std::vector<Case> cases() {
  const auto P = Boundary::Periodic, A = Boundary::Antiperiodic, F = Boundary::Fixed,
             N = Boundary::Neumann, O = Boundary::Outflow;
  const Precision d = Precision::F64, f = Precision::F32;
  std::vector<Case> list;
  for (int axis = 0; axis < 3; ++axis) list.push_back(fluxes({19, 21, 23}, axis, O, f));
  // along x in pieces: words of 16, 8 and 4 bytes, lines that begin anywhere
  list.push_back(fluxes({72, 9, 5}, 0, O, f));
  list.push_back(fluxes({70, 37}, 0, P, f));
  list.push_back(fluxes({81, 33}, 0, N, f, true));
  list.push_back(fluxes({34, 7, 6}, 0, N, d, true));
  list.push_back(fluxes({18, 20, 31}, 2, N, f, true));
  list.push_back(fluxes({20, 25, 18}, 1, A, d));
  list.push_back(fluxes({20, 19, 26}, 2, F, f));
  list.push_back(fluxes({45, 30}, 0, P, d));
  // so far that walks begin with steps of their own
  list.push_back(fluxes({34, 41}, 1, O, d, false, 4));
  list.push_back(fluxes({68, 35}, 0, P, f, false, 4));
  list.push_back(fluxes({5, 40}, 1, P, f));
  list.push_back(fluxes({70}, 0, N, d, true));
  list.push_back(fluxes({40, 33}, 0, O, f, false, 2, true));
  list.push_back(fluxes({33, 36}, 1, O, d, false, 2, true));
  // computed in another precision than stored: all arrays, or one of them
  for (const int axis : {0, 1}) {
    list.push_back(fluxes({70, 34}, axis, N, d, true));
    for (auto& array : list.back().kernel.arrays) array.store = f;
    list.push_back(fluxes({36, 35}, axis, A, axis == 0 ? d : f));
    list.back().kernel.arrays[1].store = axis == 0 ? f : d;
  }
  return list;
}

/// Lattices of one dimension, long enough for a device of three processors, of any extent.
std::vector<Case> long_cases(int passes, bool table = false) {
  std::vector<Case> list;
  list.push_back(fluxes({13001}, 0, Boundary::Outflow, Precision::F32, false, passes, table));
  list.push_back(fluxes({12802}, 0, Boundary::Neumann, Precision::F32, true, passes, table));
  list.push_back(fluxes({13104}, 0, Boundary::Periodic, Precision::F32, false, passes, table));
  list.push_back(fluxes({7000}, 0, Boundary::Antiperiodic, Precision::F64, false, passes, table));
  list.push_back(fluxes({7300}, 0, Boundary::Fixed, Precision::F64, false, passes, table));
  for (Case& c : list) c.kernel.along = -1;
  return list;
}

double tolerance(const Case& c) {
  if (c.kernel.compute == Precision::F32) return 5e-6;
  for (const auto& array : c.kernel.arrays) {
    if (array.store == Precision::F32) return 2e-7;
  }
  return 1e-13;
}

emit::TargetInfo device(program::Target language, bool cpu) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = cpu;
  target.compute_units = 3;
  return target;
}

void check(const emit::TargetInfo& target,
           const std::function<State(const Case&, const program::Kernel&, const State&)>& run) {
  // PoCL takes seconds for the form of a GPU
  const bool slow = target.target == program::Target::OpenCL && !target.is_cpu;
  int number = 0;
  for (const Case& c : cases()) {
    SCOPED_TRACE(number++);
    if (slow && number % 4 != 0) continue;
    const auto line = emit::lines_of(c.kernel, target);
    ASSERT_TRUE(line.has_value());
    const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
    const State start = random_state(c, 5), expected = reference(c, start);
    const State got = run(c, kernel, start);
    ASSERT_LT(difference(got, expected), tolerance(c)) << kernel.source;
    if (number == 4) {
      EXPECT_EQ(run(c, kernel, start).scalars, got.scalars) << "not the same bits";
    }
  }
}

TEST(Lines, EachValueIsMadeOnce) {
  const Case c = fluxes({40, 40, 40}, 1, Boundary::Periodic, Precision::F64);
  const auto line = kernel::line_of(c.kernel);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->delay, 2);
  EXPECT_EQ(line->before, 3);
  // two passes of two quantities at 10 operations, two velocities with a division each, and the
  // rest: a site alone would make the first pass at seven cells
  const kernel::Cost walked = kernel::cost(c.kernel);
  kernel::Kernel plain = c.kernel;
  plain.along = -1;
  const kernel::Cost alone = kernel::cost(plain);
  EXPECT_EQ(walked.special, 2);
  EXPECT_LT(walked.flops, 70);
  EXPECT_GT(alone.flops, 2 * walked.flops);
}

TEST(Lines, ReadsOffTheAxisGoSiteBySite) {
  Case c;
  c.kernel.name = "cross";
  c.shape({30, 30, 30});
  c.kernel.along = 0;
  const int u = c.array("u", true, true, true);
  c.store(u, c.arena->raw(Op::Add, {c.load(u, 1), c.load(u, 0, 1)}));
  EXPECT_FALSE(kernel::line_of(c.kernel).has_value());
}

/// On a GPU against the reference, with less than half of the work of sites alone.
void check_one_dimension(const Case& c, const emit::TargetInfo& cuda) {
  const program::Kernel kernel = emit::emit(c.kernel, cuda, c.bindings);
  kernel::Kernel alone = c.kernel;
  alone.extent[0] = 1500;
  EXPECT_LT(kernel.flops, emit::emit(alone, cuda, c.bindings).flops / 2);
  const State start = random_state(c, 5), expected = reference(c, start);
  const State got = run_cuda_on_threads(c, kernel, start);
  ASSERT_LT(difference(got, expected), tolerance(c)) << kernel.source;
  EXPECT_EQ(run_cuda_on_threads(c, kernel, start).scalars, got.scalars) << "not the same bits";
}

// Threads side by side have cells side by side. A value of each kind is made once: a flux needs the
// slopes of its cell and the velocity of the next one, and each is a phase after what it reads of
// its neighbours.
TEST(Lines, OneDimensionIsMadeInTiles) {
  const emit::TargetInfo cuda = device(program::Target::Cuda, false);
  int number = 0;
  for (const Case& c : long_cases(1, true)) {
    SCOPED_TRACE(number++);
    const auto line = emit::lines_of(c.kernel, cuda);
    ASSERT_TRUE(line.has_value());
    const auto tile = emit::tile_of(c.kernel, *line, cuda);
    ASSERT_TRUE(tile.has_value());
    ASSERT_GE(tile->phases.size(), 3U);
    EXPECT_GT(tile->behind, 0);
    EXPECT_GT(tile->ahead, 0);
    for (std::size_t p = 0; p + 1 < tile->phases.size(); ++p)
      EXPECT_TRUE(tile->phases[p].step.stores.empty());
    check_one_dimension(c, cuda);
  }
}

// Where threads would pass much to each other, a line is cut into runs, which threads walk side by
// side; a short one goes site by site.
TEST(Lines, OneDimensionIsWalkedInRuns) {
  const emit::TargetInfo cuda = device(program::Target::Cuda, false);
  int number = 0;
  for (const Case& c : long_cases(4)) {
    SCOPED_TRACE(number++);
    const auto line = emit::lines_of(c.kernel, cuda);
    ASSERT_TRUE(line.has_value());
    EXPECT_GT(line->run, 0);
    EXPECT_FALSE(emit::tile_of(c.kernel, *line, cuda).has_value());
    EXPECT_FALSE(emit::lines_of(c.kernel, device(program::Target::Native, true)).has_value());
    kernel::Kernel shorter = c.kernel;
    shorter.extent[0] = 1500;
    EXPECT_FALSE(emit::lines_of(shorter, cuda).has_value());
    check_one_dimension(c, cuda);
  }
}

/// The same for the lanes of a processor, without the sum whose bits depend on the order of cells.
std::vector<Case> lane_cases() {
  std::vector<Case> list;
  list.push_back(fluxes({20011}, 0, Boundary::Outflow, Precision::F64, false, 3));
  list.push_back(fluxes({401}, 0, Boundary::Outflow, Precision::F64, false, 3));
  list.push_back(fluxes({1000}, 0, Boundary::Neumann, Precision::F64, true, 3));
  list.push_back(fluxes({3001}, 0, Boundary::Periodic, Precision::F32, false, 6));
  list.push_back(fluxes({1537}, 0, Boundary::Antiperiodic, Precision::F64, false, 3));
  list.push_back(fluxes({1800}, 0, Boundary::Fixed, Precision::F32, false, 6));
  for (Case& c : list) {
    c.kernel.along = -1;
    std::erase_if(c.kernel.reductions, [](const auto& r) { return r.slot == "sum"; });
  }
  // cells with more in them than at the start: a sum of whole numbers
  for (Case& c : list) {
    Arena& a = *c.arena;
    const Expr more = a.raw(Op::Less, {c.load(c.kernel.stores[0].array), c.kernel.stores[0].value});
    c.sum("sum", a.raw(Op::Select, {more, a.integer(1), a.integer(0)}));
  }
  return list;
}

// On a processor the runs are the lanes of vectors, of any extent; extremes, sums of few terms and
// of whole numbers are the bits of a kernel that goes site by site.
TEST(Lines, LanesOfAProcessorWalkRuns) {
  const emit::TargetInfo native = device(program::Target::Native, true);
  const emit::TargetInfo opencl = device(program::Target::OpenCL, true);
  int number = 0;
  for (const Case& c : lane_cases()) {
    SCOPED_TRACE(number++);
    const auto line = emit::lines_of(c.kernel, native);
    ASSERT_TRUE(line.has_value());
    EXPECT_GT(line->run, 0);
    kernel::Kernel shorter = c.kernel;
    shorter.extent[0] = 60;
    EXPECT_FALSE(emit::lines_of(shorter, native).has_value());
    const State start = random_state(c, 5), expected = reference(c, start);
    const program::Kernel kernel = emit::emit(c.kernel, native, c.bindings);
    const State got = run_native(c, kernel, start, "g++", "-O1");
    ASSERT_LT(difference(got, expected), tolerance(c)) << kernel.source;
    if (!opencl_available()) continue;
    const State other = run_opencl(c, emit::emit(c.kernel, opencl, c.bindings), start);
    ASSERT_LT(difference(other, expected), tolerance(c));
  }
}

// A sum over all sites keeps its order, so its kernel goes site by site.
TEST(Lines, LanesKeepTheOrderOfSums) {
  Case c = fluxes({20011}, 0, Boundary::Outflow, Precision::F64, false, 3);
  c.kernel.along = -1;
  const emit::TargetInfo native = device(program::Target::Native, true);
  EXPECT_FALSE(emit::lines_of(c.kernel, native).has_value());
  std::erase_if(c.kernel.reductions, [](const auto& r) { return r.slot == "sum"; });
  EXPECT_TRUE(emit::lines_of(c.kernel, native).has_value());
}

// What its own site alone reads may be stored where it was, though walks begin before their run.
TEST(Lines, RunsStoreInPlace) {
  Case c = fluxes({13001}, 0, Boundary::Outflow, Precision::F64, false, 3);
  c.kernel.along = -1;
  const int kept = c.array("kept", true, true, false);
  Arena& a = *c.arena;
  c.store(kept, a.raw(Op::Add, {c.load(kept), c.kernel.stores[0].value}));
  const emit::TargetInfo cuda = device(program::Target::Cuda, false);
  const auto line = emit::lines_of(c.kernel, cuda);
  ASSERT_TRUE(line.has_value());
  EXPECT_GT(line->run, 0);
  const State start = random_state(c, 5), expected = reference(c, start);
  const State got = run_cuda_on_threads(c, emit::emit(c.kernel, cuda, c.bindings), start);
  EXPECT_LT(difference(got, expected), tolerance(c));
  std::erase_if(c.kernel.reductions, [](const auto& r) { return r.slot == "sum"; });
  const emit::TargetInfo native = device(program::Target::Native, true);
  EXPECT_TRUE(emit::lines_of(c.kernel, native).has_value());
  const State lanes = run_native(c, emit::emit(c.kernel, native, c.bindings), start, "g++", "-O1");
  EXPECT_LT(difference(lanes, reference(c, start)), tolerance(c));
  c.kernel.stores.back().value = a.raw(Op::Add, {c.load(kept, 1), c.kernel.stores[0].value});
  for (const emit::TargetInfo& target : {cuda, native})
    EXPECT_FALSE(emit::lines_of(c.kernel, target).has_value());
}

// A kernel that moves memory and computes little is not walked.
TEST(Lines, LittleWorkGoesSiteBySite) {
  Case c;
  c.kernel.name = "light";
  c.shape({100000});
  const int u = c.array("u", true, true, true);
  const Expr twice = c.arena->raw(Op::Mul, {c.arena->integer(2), c.load(u)});
  c.store(u, c.arena->raw(Op::Sub, {twice, algebra::shift(twice, {{1, 0, 0, 0}})}));
  EXPECT_FALSE(emit::lines_of(c.kernel, device(program::Target::Cuda, false)).has_value());
}

TEST(Lines, NativeAgreesWithTheReference) {
  check(device(program::Target::Native, true), [](const Case& c, const auto& k, const State& s) {
    return run_native(c, k, s, "g++", "-O1");
  });
}

TEST(Lines, OpenCLAgreesWithTheReference) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  for (const bool cpu : {true, false}) check(device(program::Target::OpenCL, cpu), run_opencl);
}

TEST(Lines, CudaOnThreadsAgreesWithTheReference) {
  check(device(program::Target::Cuda, false), run_cuda_on_threads);
}

}  // namespace
}  // namespace vphi::emit_test
