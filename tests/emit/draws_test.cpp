// Random numbers of kernels: emitted code against kernel/draw.hpp on every device and in every
// pattern, and the distribution itself.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compiler/emit/walks/march.hpp"
#include "compiler/kernel/draw.hpp"
#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

// The first words of Marsaglia's example; those of Philox are in tests/run/philox_test.cpp.
TEST(Draws, XorshiftKnownAnswers) {
  EXPECT_EQ(kernel::xorshift32(2463534242U), 723471715U);
  EXPECT_EQ(kernel::xorshift32(723471715U), 2497366906U);
  EXPECT_EQ(kernel::xorshift32(2497366906U), 2064144800U);
}

// A run of xorshift words goes on through its blocks, and begins anew after eight of them.
TEST(Draws, XorshiftRuns) {
  kernel::Random random;
  random.generator = kernel::Generator::Xorshift32;
  const kernel::Random philox;
  for (std::uint64_t block = 16; block < 24; ++block) {
    const kernel::Words words = kernel::block_of(random, 5, block);
    std::uint32_t before =
        block == 16 ? kernel::block_of(philox, 5, 2)[0] : kernel::block_of(random, 5, block - 1)[3];
    for (const std::uint32_t word : words) EXPECT_EQ(word, before = kernel::xorshift32(before));
  }
}

// Stores `draws` numbers: Normals, and from `uniforms_from` on Uniforms.
Case numbers(std::vector<std::int64_t> extent, Precision real, int draws, int uniforms_from,
             double step) {
  Case c;
  c.kernel.name = "numbers";
  c.shape(std::move(extent));
  c.kernel.compute = real;
  c.slot("n", step);
  c.slot("which", 7);
  for (int i = 0; i < draws; ++i) {
    const int array = c.array("u" + std::to_string(i), false, true);
    c.store(array, c.arena->random(i < uniforms_from ? Op::Normal : Op::Uniform, i));
  }
  c.kernel.random.seed = 0x299f31d0a4093822;
  c.kernel.random.stream = 0x80000000U;
  c.kernel.random.draws = draws;
  c.kernel.random.step = "n";
  return c;
}

void compare(const Case& c, const State& got, std::uint64_t instance) {
  const double tolerance = c.kernel.compute == Precision::F32 ? 2e-5 : 1e-14;
  const auto sites = static_cast<std::size_t>(c.kernel.sites());
  for (std::size_t i = 0; i < c.kernel.stores.size(); ++i) {
    const algebra::Node& node = *c.kernel.stores[i].value;
    for (std::size_t site = 0; site < sites; ++site) {
      const double expected =
          kernel::draw<double>(c.kernel.random, node.op, node.index, instance * sites + site,
                               static_cast<std::uint64_t>(c.scalars[0]));
      ASSERT_NEAR(got.arrays[i][0][site], expected, tolerance) << i << " at " << site;
    }
  }
}

using Run = std::function<State(const Case&, const program::Kernel&, const State&)>;

/// The sites of one colour, as the interpreter numbers them; the others keep their values.
void check_colour(emit::TargetInfo target, const Run& run, std::vector<std::int64_t> extent,
                  const kernel::Colours& colours, bool strips) {
  target.compute_units = 1;
  for (const int draws : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(draws) + " draws");
    Case c = numbers(extent, Precision::F64, draws, draws - draws % 2, 9);
    c.kernel.random.sites = c.kernel.sites();
    c.kernel.colours = colours;
    c.kernel.random.apart = colours.apart();
    c.slot("colour", 1);
    const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
    EXPECT_EQ(kernel.source.find("share blocks") != std::string::npos, strips && draws < 3);
    const State start = random_state(c, 1), got = run(c, kernel, start);
    for (std::size_t i = 0; i < c.kernel.stores.size(); ++i) {
      const algebra::Node& node = *c.kernel.stores[i].value;
      for (std::int64_t site = 0; site < c.kernel.sites(); ++site) {
        const auto at = static_cast<std::size_t>(site);
        const std::int64_t sum =
            site % extent[0] * colours.weights[0] + site / extent[0] * colours.weights[1];
        const bool own = sum % colours.modulus == 1;
        const double expected = own ? kernel::draw<double>(c.kernel.random, node.op, node.index,
                                                           static_cast<std::uint64_t>(site), 9)
                                    : start.arrays[i][0][at];
        ASSERT_NEAR(got.arrays[i][0][at], expected, 1e-14) << i << " at " << site;
      }
    }
  }
}

void check_colours(const emit::TargetInfo& target, const Run& run) {
  const bool gpu = target.target != program::Target::Native && !target.is_cpu;
  check_colour(target, run, {256, 320}, {2, {1, 1}, 0, "colour"}, gpu);
  check_colour(target, run, {256, 320}, {2, {1, 1}, 1, "colour"}, gpu);
  check_colour(target, run, {16, 6}, {2, {1, 1}, 1, "colour"}, false);
  check_colour(target, run, {24, 9}, {3, {1, 2}, 1, "colour"}, false);
  check_colour(target, run, {24, 8}, {4, {2, 1}, 1, "colour"}, false);
}

/// v at a neighbour along x; outside of the row what the boundary says, `fixed` at a wall.
double across_end(const std::vector<double>& v, std::int64_t x, std::int64_t y, int dx, int dy,
                  Boundary boundary, double fixed) {
  constexpr std::int64_t nx = 256, ny = 320;
  const std::int64_t to = x + dx;
  const bool outside = to < 0 || to >= nx;
  if (outside && boundary == Boundary::Fixed) return fixed;
  const double value = v[static_cast<std::size_t>((y + dy + ny) % ny * nx + (to + 2 * nx) % nx)];
  return outside && boundary == Boundary::Antiperiodic ? -value : value;
}

/// Sites of a strip read their neighbours in it, in the next ones, and beyond the ends of a row.
/// The sites where a draw is below 1/4 are counted.
void check_neighbours_of_strips(emit::TargetInfo target, const Run& run) {
  target.compute_units = 1;
  const std::vector<std::array<int, 2>> offsets{{1, 0}, {-1, 0}, {5, 0}, {-7, 0}, {0, 1}, {-3, -1}};
  for (const int axis : {0, 1})
    for (const Boundary boundary : {Boundary::Periodic, Boundary::Antiperiodic, Boundary::Fixed}) {
      if (axis == 0 && boundary != Boundary::Antiperiodic) continue;
      SCOPED_TRACE("axis " + std::to_string(axis) + ", boundary " +
                   std::to_string(static_cast<int>(boundary)));
      Case c = numbers({256, 320}, Precision::F64, 1, 0, 9);
      c.kernel.boundary[0] = boundary;
      c.kernel.fixed_value = 0.5;
      c.kernel.random.sites = c.kernel.sites();
      c.kernel.colours = kernel::Colours{2, {1, 1}, axis, "colour"};
      c.kernel.random.apart = c.kernel.colours->apart();
      c.slot("colour", 1);
      c.slot("few");
      const int v = c.array("v", true, false);
      const Expr draw = c.kernel.stores[0].value;
      std::vector<Expr> terms{draw};
      for (const auto& [dx, dy] : offsets) terms.push_back(c.load(v, dx, dy));
      c.kernel.stores[0].value = c.arena->raw(Op::Add, terms);
      c.sum("few", c.arena->raw(Op::Less, {draw, c.arena->rational(1, 4)}));
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      const State start = random_state(c, 1), got = run(c, kernel, start);
      double few = 0;
      for (std::int64_t y = 0; y < 320; ++y)
        for (std::int64_t x = (y + 1) % 2; x < 256; x += 2) {
          const auto site = static_cast<std::uint64_t>(y * 256 + x);
          double expected = kernel::draw<double>(c.kernel.random, Op::Uniform, 0, site, 9);
          few += expected < 0.25;
          for (const auto& [dx, dy] : offsets)
            expected += across_end(start.arrays[1][0], x, y, dx, dy, boundary, 0.5);
          ASSERT_NEAR(got.arrays[0][0][site], expected, 1e-13) << x << " " << y;
        }
      EXPECT_EQ(got.scalars.back(), few);
    }
}

/// In f32 sites that read little are strips too, without numbers (0 draws) and with blocks of their
/// own (4 draws).
void check_strips_without_shared_blocks(emit::TargetInfo target, const Run& run) {
  target.compute_units = 1;
  const std::vector<std::array<int, 2>> offsets{{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (const int axis : {0, 1})
    for (const int draws : {0, 4}) {
      SCOPED_TRACE("axis " + std::to_string(axis) + ", draws " + std::to_string(draws));
      Case c = numbers({256, 320}, Precision::F32, draws, 0, 9);
      c.kernel.random.sites = c.kernel.sites();
      c.kernel.colours = kernel::Colours{2, {1, 1}, axis, "colour"};
      c.kernel.random.apart = c.kernel.colours->apart();
      c.slot("colour", 1);
      const int v = c.array("v", true, true);
      std::vector<Expr> terms{c.load(v, 0, 0)};
      for (const auto& [dx, dy] : offsets) terms.push_back(c.load(v, dx, dy));
      c.store(v, c.arena->raw(Op::Add, terms));
      const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
      EXPECT_NE(kernel.source.find("One thread 4 sites"), std::string::npos);
      const State start = random_state(c, 1), got = run(c, kernel, start);
      const auto place = static_cast<std::size_t>(draws);  // of v
      const auto& before = start.arrays[place][0];
      for (std::int64_t y = 0; y < 320; ++y)
        for (std::int64_t x = 0; x < 256; ++x) {
          const auto site = static_cast<std::size_t>(y * 256 + x);
          double expected = before[site];
          if ((x + y) % 2 == 1)
            for (const auto& [dx, dy] : offsets)
              expected += across_end(before, x, y, dx, dy, Boundary::Periodic, 0);
          ASSERT_NEAR(got.arrays[place][0][site], expected, 1e-5) << x << " " << y;
          for (int i = 0; i < draws && (x + y) % 2 == 1; ++i)
            ASSERT_NEAR(got.arrays[static_cast<std::size_t>(i)][0][site],
                        kernel::draw<double>(c.kernel.random, Op::Uniform, i, site, 9), 1e-6)
                << i << " at " << x << " " << y;
        }
    }
}

void check(program::Target language, bool cpu, const Run& run) {
  emit::TargetInfo target;
  target.target = language;
  target.is_cpu = cpu;
  target.compute_units = 2;
  for (const Precision real : {Precision::F64, Precision::F32})
    for (const auto& [draws, uniforms_from] :
         {std::pair(1, 1), std::pair(1, 0), std::pair(2, 2), std::pair(3, 2), std::pair(6, 6)})
      for (const double step : {6.0, 17179869187.0}) {
        if (real == Precision::F32 && (draws != 1 || step == 6)) continue;
        SCOPED_TRACE(std::to_string(draws) + " draws at step " + std::to_string(step));
        // steps share the words of a block, neighbouring sites, and these on the path of finer
        // steps
        for (const int shared : {0, 1, 2}) {
          if (shared != 1 && real == Precision::F32) continue;
          if (shared == 2 && (draws == 6 || uniforms_from != draws)) continue;
          Case c = numbers({41, 3}, real, draws, uniforms_from, step);
          if (shared > 0) c.kernel.random.sites = c.kernel.sites();
          if (shared == 2) {  // as many again, of the second of two finer steps
            const int words = static_cast<int>(kernel::words_per_step(c.kernel.random));
            for (int i = 0; i < draws; ++i)
              c.store(c.array("v" + std::to_string(i), false, true),
                      c.arena->random(Op::Normal, words + i));
            c.kernel.random.draws += words;
            c.kernel.random.finer = 2;
          }
          const program::Kernel kernel = emit::emit(c.kernel, target, c.bindings);
          compare(c, run(c, kernel, random_state(c, 1)), 0);
        }
      }
  // Other generators, and one bit a draw.
  for (const auto generator : {kernel::Generator::Philox7, kernel::Generator::Xorshift32})
    for (const bool bits : {false, true}) {
      const bool slow = language == program::Target::OpenCL && cpu;  // PoCL's compiler
      if (slow && generator == kernel::Generator::Xorshift32) continue;
      Case other = numbers({6, 3}, Precision::F64, 3, bits ? 0 : 2, 1234567);
      other.kernel.random.generator = generator;
      other.kernel.random.bits = bits;
      const program::Kernel kernel = emit::emit(other.kernel, target, other.bindings);
      compare(other, run(other, kernel, random_state(other, 1)), 0);
    }
  // Strips of neighbours on GPUs make each block once; the last sites belong to none.
  for (const int draws : {1, 2, 3}) {
    Case strips = numbers({2051}, Precision::F64, draws, draws, 9);
    const int u = strips.array("u", true, false);
    strips.kernel.random.sites = 2051;
    strips.store(strips.array("copy", false, true), strips.load(u));
    target.compute_units = 1;
    const program::Kernel kernel = emit::emit(strips.kernel, target, strips.bindings);
    EXPECT_EQ(kernel.source.find("_strip") != std::string::npos,
              language != program::Target::Native && !cpu);
    strips.kernel.stores.pop_back();
    const State got = run(strips, kernel, random_state(strips, 1));
    compare(strips, got, 0);
  }
  check_colours(target, run);
  if (language == program::Target::Native || cpu) return;
  check_neighbours_of_strips(target, run);
  check_strips_without_shared_blocks(target, run);
  Case named = numbers({5, 3}, Precision::F64, 2, 2, 3);
  named.kernel.random.instance = "which";
  named.kernel.random.sites = 15;
  const program::Kernel kernel = emit::emit(named.kernel, target, named.bindings);
  compare(named, run(named, kernel, random_state(named, 1)), 7);
}

TEST(Draws, Native) {
  check(program::Target::Native, true,
        [](const Case& c, const program::Kernel& kernel, const State& start) {
          return run_native(c, kernel, start, "g++",
                            "-O1 -Wall -Wextra -Werror -Wno-unknown-pragmas");
        });
}
TEST(Draws, OpenCLThreads) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, false, run_opencl);
}
TEST(Draws, OpenCLRows) {
  if (!opencl_available()) GTEST_SKIP() << "no OpenCL device";
  check(program::Target::OpenCL, true, run_opencl);
}
TEST(Draws, CudaOnThreads) { check(program::Target::Cuda, false, run_cuda_on_threads); }

// A stencil and a draw in one sweep: the march numbers its sites as the others do.
TEST(Draws, March) {
  Case c = numbers({64, 4, 6}, Precision::F64, 1, 1, 5);
  const int u = c.array("u", true, false);
  const int lap = laplacian7(c);
  const Expr noise = c.kernel.stores[0].value;
  const Expr zero = c.arena->raw(Op::Mul, {c.arena->integer(0), c.arena->stencil(lap, c.load(u))});
  c.kernel.stores[0].value = c.arena->raw(Op::Add, {noise, zero});
  emit::TargetInfo target;
  target.target = program::Target::Cuda;
  target.is_cpu = false;
  const emit::Job job = emit::make_job(c.kernel, target, c.bindings);
  const emit::MarchShape shape{16, 2, 1, 3, 2, 1};
  ASSERT_TRUE(emit::fits(job, shape));
  const State got =
      run_cuda_on_threads(c, emit::emit_march(job, c.bindings, shape), random_state(c, 1));
  c.kernel.stores[0].value = noise;
  compare(c, got, 0);
}

// Two steps of a run are the two halves of one of a coarser run on the same path, site by site.
TEST(Draws, FinerStepsOfSites) {
  for (const int draws : {1, 2, 3, 5}) {
    kernel::Random fine;
    fine.sites = 10;
    fine.draws = draws;
    kernel::Random coarse = fine;
    const auto words = static_cast<int>(kernel::words_per_step(fine));
    coarse.draws += words;
    coarse.finer = 2;
    for (std::uint64_t walker = 0; walker < 30; ++walker)
      for (int i = 0; i < draws; ++i)
        for (const int half : {0, 1})
          EXPECT_EQ(kernel::draw<double>(coarse, Op::Normal, i + half * words, walker, 7),
                    kernel::draw<double>(fine, Op::Normal, i, walker,
                                         14 + static_cast<std::uint64_t>(half)));
  }
}

// No two sites, steps and draws have a number in common.
TEST(Draws, EveryNumberOnce) {
  for (const auto& [sites, apart] :
       {std::pair(1, 1), std::pair(7, 1), std::pair(24, 2), std::pair(24, 3)})
    for (const int draws : {1, 2, 3, 5}) {
      kernel::Random random;
      random.sites = sites;
      random.apart = apart;
      random.draws = draws;
      std::set<double> seen;
      for (std::uint64_t walker = 0; walker < static_cast<std::uint64_t>(3 * sites + 18); ++walker)
        for (std::uint64_t step = 0; step < 9; ++step)
          for (int i = 0; i < draws; ++i)
            EXPECT_TRUE(
                seen.insert(kernel::draw<double>(random, Op::Normal, i, walker, step)).second);
    }
}

// Moments of 2^18 numbers with their standard errors (seed fixed; 4 sigma), and no correlation
// between steps, sites or the two numbers of a pair.
TEST(Draws, Distribution) {
  for (const std::int64_t of_instance : {1, 1 << 18}) {
    kernel::Random random;
    random.sites = of_instance;
    random.draws = 2;
    const int count = 1 << 18;
    const auto normal = [&](int draw, std::uint64_t walker, std::uint64_t step) {
      return kernel::draw<double>(random, Op::Normal, draw, walker, step);
    };
    double mean = 0, square = 0, fourth = 0, pair = 0, steps = 0, sites = 0, uniform = 0;
    for (int i = 0; i < count; ++i) {
      const auto w = static_cast<std::uint64_t>(i);
      const double x = normal(0, w, 3);
      mean += x, square += x * x, fourth += x * x * x * x;
      pair += x * normal(1, w, 3), steps += x * normal(0, w, 4), sites += x * normal(0, w + 1, 3);
      uniform += kernel::draw<double>(random, Op::Uniform, 1, w, 5);
    }
    const double n = count, root = std::sqrt(n);
    EXPECT_LT(std::fabs(mean / n), 4 / root);
    EXPECT_LT(std::fabs(square / n - 1), 4 * std::sqrt(2.0) / root);
    EXPECT_LT(std::fabs(fourth / n - 3), 4 * std::sqrt(96.0) / root);
    for (const double product : {pair, steps, sites}) EXPECT_LT(std::fabs(product / n), 4 / root);
    EXPECT_LT(std::fabs(uniform / n - 0.5), 4 * std::sqrt(1.0 / 12) / root);
  }
}

// The same moments from the other generators; bits are balanced, and independent of their
// neighbours among draws, steps and walkers (4 sigma of 2^17 numbers).
TEST(Draws, DistributionOfOtherGenerators) {
  const int count = 1 << 17;
  const double n = count, root = std::sqrt(n);
  for (const auto generator : {kernel::Generator::Philox7, kernel::Generator::Xorshift32}) {
    kernel::Random random;
    random.generator = generator;
    random.draws = 2;
    double mean = 0, square = 0, fourth = 0, pair = 0, steps = 0;
    for (int i = 0; i < count; ++i) {
      const auto normal = [&](int draw, std::uint64_t step) {
        return kernel::draw<double>(random, Op::Normal, draw, static_cast<std::uint64_t>(i), step);
      };
      const double x = normal(0, 9);
      mean += x, square += x * x, fourth += x * x * x * x;
      pair += x * normal(1, 9), steps += x * normal(0, 10);
    }
    EXPECT_LT(std::fabs(mean / n), 4 / root);
    EXPECT_LT(std::fabs(square / n - 1), 4 * std::sqrt(2.0) / root);
    EXPECT_LT(std::fabs(fourth / n - 3), 4 * std::sqrt(96.0) / root);
    for (const double product : {pair, steps}) EXPECT_LT(std::fabs(product / n), 4 / root);

    random.bits = true;
    double balance = 0, draws = 0, next = 0, walkers = 0;
    for (int i = 0; i < count; ++i) {
      const auto sign = [&](int draw, std::uint64_t walker, std::uint64_t step) {
        return kernel::draw<double>(random, Op::Uniform, draw, walker, step) < 0.5 ? -1.0 : 1.0;
      };
      const auto w = static_cast<std::uint64_t>(i);
      const double s = sign(0, w, 77);
      balance += s, draws += s * sign(1, w, 77);
      next += s * sign(0, w, 78), walkers += s * sign(0, w + 1, 77);
    }
    for (const double sum : {balance, draws, next, walkers}) EXPECT_LT(std::fabs(sum / root), 4);
  }
}

}  // namespace
}  // namespace vphi::emit_test
