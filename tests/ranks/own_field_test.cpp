// Ranks that draw their own part of a random field have the bits of the field of one device.
#include "runtime/run/starts/own_field.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <thread>

#include "program/wave_numbers.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/device/opencl/opencl.hpp"
#include "runtime/random/philox.hpp"
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/starts/device_field.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {
namespace {

using program::Program;
using program::RandomField;

struct CutBox {
  std::array<std::int64_t, 4> extent;
  int dims = 3;
  int ranks = 2;
  std::int64_t slab = 1;
  int beside = 1;  ///< ranks that share the lines of planes
};

void PrintTo(const CutBox& row, std::ostream* out) {
  for (const std::int64_t n : row.extent) *out << n << " ";
  *out << "on " << row.ranks << ", " << row.beside << " beside each other";
}

Program whole_box(const CutBox& row) {
  Program p;
  p.extent = row.extent, p.dims = row.dims;
  p.dx = p.dx_physical = 0.4;
  p.seed = 0x123456789abcULL;
  return p;
}

/// With one ghost below and two above.
Program part_of_box(const CutBox& row, int rank) {
  Program p = whole_box(row);
  int axis = 3;
  while (p.extent[static_cast<std::size_t>(axis)] == 1) --axis;
  auto& planes = p.extent[static_cast<std::size_t>(axis)];
  p.cut.axis = axis, p.cut.whole = planes, p.cut.slab = row.slab, p.cut.ghost = {1, 2};
  if (row.beside > 1) {
    auto& lines = p.extent[static_cast<std::size_t>(axis - 1)];
    p.cut.second = {.ranks = row.beside,
                    .whole = lines,
                    .slab = lines / row.beside,
                    .own = lines / row.beside,
                    .ghost = {1, 2}};
    lines = p.cut.second.own + 3;
  }
  p.cut.own = p.cut.planes(row.ranks, rank).count;
  planes = p.cut.own + 3;
  return p;
}

class OwnFields : public ::testing::TestWithParam<CutBox> {
 protected:
  static void compare(const RandomField& field) {
    const CutBox& row = GetParam();
    const Program whole = whole_box(row);
    const std::vector<double> all = random_field(whole, field, 2);
    comm::Team team(row.ranks);
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < row.ranks; ++rank)
      ranks.emplace_back([&, rank] {
        const auto comm = team.comm(rank);
        const Program part = part_of_box(row, rank);
        ASSERT_TRUE(drawn_by_ranks(part, field, row.ranks));
        const auto own = own_field(part, field, *comm, 1 + rank);
        std::size_t at = 0;
        for (const OwnSites& run : own_sites_among(part, row.ranks, rank, 0, all.size()))
          for (std::size_t i = 0; i < run.count; ++i, ++at) {
            ASSERT_LT(at, own.size());
            ASSERT_EQ(own[at], all[run.in_whole + i]) << "site " << run.in_whole + i;
          }
        EXPECT_EQ(at, own.size());
        EXPECT_GT(at, 0U);
      });
  }
};

RandomField drawn_as(RandomField::Kind kind) {
  RandomField field;
  field.kind = kind;
  field.amplitude = 2, field.low = -1, field.high = 3, field.stream = 1, field.mass2 = 0.7;
  return field;
}

TEST_P(OwnFields, BySiteHaveTheBitsOfOneDevice) {
  for (const auto kind : {RandomField::Kind::Normal, RandomField::Kind::Uniform})
    compare(drawn_as(kind));
}

TEST_P(OwnFields, ByModeHaveTheBitsOfOneDevice) {
  if (GetParam().dims > 3) GTEST_SKIP() << "four dimensions have no waves";
  for (const bool kernel_form : {true, false})
    for (const bool velocity : {true, false}) {
      RandomField field = drawn_as(RandomField::Kind::Vacuum);
      field.kernel_form = kernel_form, field.velocity = velocity;
      field.cutoff = kernel_form ? 0 : 5;
      SCOPED_TRACE(std::string(kernel_form ? "kernel" : "k-space") + " form");
      compare(field);
    }
  RandomField field = drawn_as(RandomField::Kind::Spectrum);
  const auto numbers = program::WaveNumbers::of(GetParam().extent);
  for (std::size_t k = 0; k < numbers->count(); ++k)
    field.powers.push_back(1 / (1 + static_cast<double>(k)));
  compare(field);
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, OwnFields,
    ::testing::Values(CutBox{{16, 12, 8, 1}}, CutBox{{16, 12, 9, 1}, 3, 3},
                      CutBox{{9, 7, 15, 1}, 3, 3},  // odd rows and octants
                      CutBox{{9, 7, 15, 1}, 3, 4},  // a rank without columns
                      CutBox{{64, 6, 10, 1}, 3, 5, 2}, CutBox{{16, 16, 12, 1}, 3, 4, 2, 2},
                      CutBox{{6, 24, 6, 1}, 3, 6, 1, 2}, CutBox{{32, 64, 1, 1}, 2, 2, 16},
                      CutBox{{6, 4, 8, 8}, 4, 2, 2}, CutBox{{6, 4, 8, 8}, 4, 4, 2, 2}));

/// The kernels of devices, with transforms and messages of the host: what GPUs add are cuFFT and
/// their own way of sending.
TEST_P(OwnFields, OnDevicesAreTheHosts) {
  std::string why;
  if (list_opencl(&why).empty()) GTEST_SKIP() << "no OpenCL device here: " << why;
  const CutBox& row = GetParam();
  if (row.dims > 3) GTEST_SKIP() << "devices draw in three dimensions";
  std::vector<RandomField> fields{drawn_as(RandomField::Kind::Normal),
                                  drawn_as(RandomField::Kind::Uniform)};
  for (const bool kernel_form : {true, false}) {
    // lines of planes, and few columns, are transformed by the host
    const std::int64_t columns = (row.extent[0] / 2 + 1) * (row.dims > 2 ? row.extent[1] : 1);
    if (row.beside > 1 || columns <= fft::kColumnsTogether * (row.ranks - 1)) break;
    fields.push_back(drawn_as(RandomField::Kind::Vacuum));
    fields.back().kernel_form = kernel_form, fields.back().cutoff = kernel_form ? 0 : 5;
  }
  std::vector<std::vector<double>> expected;
  for (const RandomField& field : fields)
    expected.push_back(random_field(whole_box(row), field, 1));
  comm::Team team(row.ranks);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < row.ranks; ++rank)
    ranks.emplace_back([&, rank] {
      const auto comm = team.comm(rank);
      const auto device = open_device("opencl");
      const Program part = part_of_box(row, rank);
      LatticeRanks lattice(part, *device, *comm);
      DeviceFields made(part, *device, DeviceFields::Transform::Host, &lattice);
      const std::vector<double> nothing(static_cast<std::size_t>(part.sites()),
                                        std::numeric_limits<double>::quiet_NaN());
      const BufferHandle to = device->allocate(nothing.size() * sizeof(double));
      for (std::size_t f = 0; f < fields.size(); ++f) {
        SCOPED_TRACE(::testing::Message() << "field " << f);
        device->upload(to, 0, std::as_bytes(std::span(nothing)));
        const bool random = made.random(fields[f], to, program::Precision::F64);
        EXPECT_TRUE(random) << made.why();
        if (!random) continue;
        std::vector<double> memory(nothing.size());
        device->download(std::as_writable_bytes(std::span(memory)), to, 0);
        for (const OwnSites& run : own_sites_among(part, row.ranks, rank, 0, expected[f].size()))
          for (std::size_t i = 0; i < run.count; ++i) {
            double& number = memory[run.in_memory + i];
            ASSERT_NEAR(number, expected[f][run.in_whole + i], 1e-12) << run.in_whole + i;
            number = nothing[0];
          }
        for (const double ghost : memory) ASSERT_TRUE(std::isnan(ghost));  // are filled by others
      }
      device->free(to);
    });
}

/// 2^33 sites, of which the last rank has a few: pairs of sites share what the generator makes of
/// half of their number.
TEST(OwnFieldsOfManySites, HaveNumbersOfTheirOwn) {
  const int ranks = 1 << 16;
  const CutBox row{{64, 64, std::int64_t{1} << 21, 1}, 3, ranks, 32};
  const Program part = part_of_box(row, ranks - 1);
  const RandomField field = drawn_as(RandomField::Kind::Normal);
  comm::Team team(ranks);
  const auto comm = team.comm(ranks - 1);
  const auto own = own_field(part, field, *comm, 2);
  ASSERT_EQ(own.size(), 64U * 64 * 32);
  const std::uint64_t first = (std::uint64_t{1} << 33) - own.size();
  for (std::size_t i = 0; i < own.size(); i += 2) {
    const std::uint64_t pair = (first + i) / 2;
    const auto [a, b] = random::normal_pair(
        philox::generate({static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32),
                          static_cast<std::uint32_t>(field.stream), 0},
                         random::key_of(part.seed)));
    ASSERT_EQ(own[i], 2 * a);
    ASSERT_EQ(own[i + 1], 2 * b);
  }
}

TEST(OwnFieldsOfOneRank, AreThoseThatNoShareHasTheBitsOf) {
  const RandomField waves = drawn_as(RandomField::Kind::Vacuum);
  EXPECT_FALSE(drawn_by_ranks(part_of_box({{64, 1, 1, 1}, 1}, 0), waves, 2));
  EXPECT_FALSE(drawn_by_ranks(part_of_box({{32, 64, 1, 1}, 2, 2, 8}, 0),  // rows by 16
                              waves, 3));
  EXPECT_TRUE(
      drawn_by_ranks(part_of_box({{64, 1, 1, 1}, 1}, 0), drawn_as(RandomField::Kind::Normal), 2));
  EXPECT_FALSE(
      drawn_by_ranks(part_of_box({{16, 12, 8, 1}}, 0), drawn_as(RandomField::Kind::File), 2));
}

}  // namespace
}  // namespace vphi::runtime
