// What maps in Fourier space move and compute (program/fourier_cost.hpp), against counts by hand,
// against the kernels that libraries launch, and against the matrices that a run has.
#include "program/fourier_cost.hpp"

#include <gtest/gtest.h>

#include "runtime/run/fourier_map.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing {
namespace {

using program::Target;

constexpr double kSharedOfH200 = 227 * 1024;

struct Sum {
  double bytes = 0, flops = 0, passes = 0, launches = 0;
};

Sum sum_of(const program::Program& p, double fast) {
  Sum sum;
  for (const program::FourierMap& map : p.maps)
    for (const program::Pass& pass : program::passes_of(p, map, fast)) {
      sum.bytes += pass.bytes, sum.flops += pass.flops;
      sum.passes += pass.transform ? 1 : 0;
      sum.launches += 1;
    }
  return sum;
}

/// exp(0.1*[[0, -lap], [lap, 0]]) of two arrays: a complex field that turns, which is four cosines
/// and sines.
program::Program turning(Target target, std::array<std::int64_t, 4> extent,
                         program::Precision precision) {
  program::Program p;
  p.target = target;
  p.extent = extent;
  p.dims = extent[2] > 1 ? 3 : 2;
  p.dx = 0.3;
  p.buffers.resize(2);
  for (program::Buffer& buffer : p.buffers) buffer.precision = precision;
  program::FourierMap map;
  map.scale = 0.1;
  map.from = map.to = {0, 1};
  map.matrix = {{.row = 0, .column = 1, .weight = -1, .laplacians = 1},
                {.row = 1, .column = 0, .weight = 1, .laplacians = 1}};
  p.maps = {map};
  return p;
}

// Each array goes to a box of 129*256 modes of 16 bytes and back: copies of 16 bytes a site (12 in
// f32), two passes of 32 bytes a mode each way. A row of the matrix sets a box from one array, 40
// bytes a mode, and adds the other, 56.
TEST(FourierCost, OfAComplexFieldInTwoDimensions) {
  constexpr double kSites = 256 * 256, kModes = 129 * 256;
  const double boxes = 4 * 2 * 32 * kModes + 2 * (40 + 56) * kModes;
  const double flops = 4 * (2.5 * kSites * 8 + 5 * kModes * 8) + 2 * (4 + 6) * kModes;
  const Sum wide =
      sum_of(turning(Target::Cuda, {256, 256, 1, 1}, program::Precision::F64), kSharedOfH200);
  EXPECT_DOUBLE_EQ(wide.bytes, 4 * 16 * kSites + boxes);
  EXPECT_DOUBLE_EQ(wide.flops, flops);
  EXPECT_EQ(wide.passes, 8);
  EXPECT_EQ(wide.launches, 4 + 8 + 4);
  const Sum narrow =
      sum_of(turning(Target::Cuda, {256, 256, 1, 1}, program::Precision::F32), kSharedOfH200);
  EXPECT_DOUBLE_EQ(narrow.bytes, 4 * 12 * kSites + boxes);
  EXPECT_DOUBLE_EQ(narrow.flops, flops);
}

// Three axes take three passes on GPUs. A processor's core has planes of 33*64 modes in its cache,
// which take one pass for two axes.
TEST(FourierCost, OfAComplexFieldInThreeDimensions) {
  constexpr double kSites = 64 * 64 * 64, kModes = 33 * 64 * 64;
  const double others = 4 * 16 * kSites + 2 * (40 + 56) * kModes;
  const double flops = 4 * (2.5 * kSites * 6 + 2 * 5 * kModes * 6) + 2 * (4 + 6) * kModes;
  for (const auto& [target, passes] :
       {std::pair(Target::Cuda, 3), {Target::OpenCL, 3}, {Target::Native, 2}}) {
    program::Program p = turning(target, {64, 64, 64, 1}, program::Precision::F64);
    const Sum one = sum_of(p, 48 * 1024);
    EXPECT_DOUBLE_EQ(one.bytes, others + 4 * passes * 32 * kModes);
    EXPECT_DOUBLE_EQ(one.flops, flops);
    EXPECT_EQ(one.passes, 4 * passes);
    p.instances = 3;
    EXPECT_DOUBLE_EQ(sum_of(p, 48 * 1024).bytes, 3 * one.bytes);
  }
  const Sum small_cache =
      sum_of(turning(Target::Native, {64, 64, 64, 1}, program::Precision::F64), 32 * 1024);
  EXPECT_EQ(small_cache.passes, 4 * 3);
}

// A quarter of the planes is a quarter of the work.
TEST(FourierCost, RanksShareIt) {
  const program::Program whole = turning(Target::Cuda, {64, 64, 64, 1}, program::Precision::F64);
  program::Program part = whole;
  part.extent[2] = 16 + 2;  // with a ghost on each side
  part.cut.axis = 2, part.cut.whole = 64, part.cut.own = 16;
  EXPECT_DOUBLE_EQ(sum_of(part, kSharedOfH200).bytes, sum_of(whole, kSharedOfH200).bytes / 4);
  EXPECT_DOUBLE_EQ(sum_of(part, kSharedOfH200).flops, sum_of(whole, kSharedOfH200).flops / 4);
}

// cuFFT 12.0 on an H200 launches so many kernels for columns in f64 (counted by a profiler), and
// VkFFT 1.2.26 with 48 KiB of local memory by the formula of VkFFTScheduler.
TEST(FourierCost, LinesTakeThePassesOfTheLibraries) {
  struct Row {
    Target target;
    double fast;
    std::int64_t length;
    int beside, contiguous;
  };
  for (const Row& row : {Row{Target::Cuda, kSharedOfH200, 1, 0, 0},
                         {Target::Cuda, kSharedOfH200, 1024, 1, 1},
                         {Target::Cuda, kSharedOfH200, 2048, 1, 1},
                         {Target::Cuda, kSharedOfH200, 4096, 2, 1},
                         {Target::Cuda, kSharedOfH200, 16384, 2, 1},
                         {Target::Cuda, kSharedOfH200, 32768, 2, 2},
                         {Target::Cuda, kSharedOfH200, 1 << 25, 3, 3},
                         {Target::OpenCL, 48 * 1024, 4096, 1, 1},
                         {Target::OpenCL, 48 * 1024, 8192, 2, 1},
                         {Target::OpenCL, 48 * 1024, 16384, 2, 2}}) {
    const program::Tiling tiling = program::tiling_of(row.target);
    EXPECT_EQ(program::passes_of_line(row.length, row.fast, tiling, false), row.beside)
        << row.length;
    EXPECT_EQ(program::passes_of_line(row.length, row.fast, tiling, true), row.contiguous)
        << row.length;
  }
}

// A row of n real numbers is n/2 complex ones, and a row that takes several passes needs one more
// to part them.
TEST(FourierCost, RowsArePackedWhereTheyAreEven) {
  const program::Tiling cuda = program::tiling_of(Target::Cuda);
  EXPECT_EQ(program::passes_of_row(1, kSharedOfH200, cuda), 0);
  EXPECT_EQ(program::passes_of_row(2, kSharedOfH200, cuda), 1);
  EXPECT_EQ(program::passes_of_row(32768, kSharedOfH200, cuda), 1);
  EXPECT_EQ(program::passes_of_row(65536, kSharedOfH200, cuda), 3);
  EXPECT_EQ(program::passes_of_row(65537, kSharedOfH200, cuda), 2);
}

// The entries are found from a few modes, and a run computes all of them.
TEST(FourierCost, EntriesAreThoseOfTheMatricesOfARun) {
  int maps = 0;
  for (const char* model :
       {"teaching/rolls", "teaching/bright_soliton", "teaching/condensate", "teaching/spinodal"}) {
    CompileOptions options;
    const Compilation c = compile_model(shipped(model), options, {});
    ASSERT_TRUE(c.program.has_value()) << model;
    runtime::FourierMaps run(*c.program, 1);
    for (std::size_t m = 0; m < c.program->maps.size(); ++m, ++maps) {
      const auto& table = run.table(m);
      const auto entries = program::entries_of(*c.program, c.program->maps[m]);
      ASSERT_EQ(entries.size(), table.size()) << model << ' ' << c.program->maps[m].name;
      for (std::size_t e = 0; e < entries.size(); ++e) {
        EXPECT_EQ(static_cast<std::size_t>(entries[e].row), table[e].row);
        EXPECT_EQ(static_cast<std::size_t>(entries[e].column), table[e].column);
        EXPECT_EQ(entries[e].real, table[e].im.empty());
      }
    }
  }
  EXPECT_GE(maps, 4);
}

}  // namespace
}  // namespace vphi::testing
