// Snapshots of chosen sites (runtime/observe/kinds/snapshot.cpp), read at once and in parts.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {
namespace {

constexpr std::int64_t kX = 6, kY = 5, kZ = 8;

/// What an array has at a site.
double value_at(int buffer, std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<double>(x + 10 * y + 100 * z + 1000 * buffer);
}

struct Read {
  io::Table table;
  std::size_t most = 0, calls = 0;  ///< numbers of a read
};

Read read_of(const std::array<program::SitesOfAxis, 3>& sites, std::size_t at_once) {
  program::Program p;
  p.extent = {kX, kY, kZ, 1}, p.dims = 3, p.dx = p.dx_physical = 0.5;
  p.buffers.resize(2);
  program::FieldOutput field;
  field.kind = program::OutputKind::Snapshot;
  field.buffer = 0;
  field.more.push_back({1, 1, 0, 1});
  field.value = {2};
  std::ranges::copy(sites, field.sites.begin());
  Read result;
  const auto some = [&](int buffer, std::size_t first, std::size_t count) {
    result.most = std::max(result.most, count), ++result.calls;
    std::vector<double> values;
    for (std::size_t i = first; i < first + count; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      values.push_back(value_at(buffer, at % kX, at / kX % kY, at / (kX * kY)));
    }
    return values;
  };
  const ReadBuffer read([&](int buffer) { return some(buffer, 0, kX * kY * kZ); }, some);
  const std::vector<double> scalars;
  result.table = chosen_sites({p, field, read, scalars}, at_once);
  return result;
}

std::vector<double> expected(const std::array<program::SitesOfAxis, 3>& sites) {
  std::vector<double> values;
  const auto last = [&](std::size_t axis, std::int64_t n) {
    return sites[axis].last < 0 ? n - 1 : sites[axis].last;
  };
  for (std::int64_t z = sites[2].first; z <= last(2, kZ); z += sites[2].every)
    for (std::int64_t y = sites[1].first; y <= last(1, kY); y += sites[1].every)
      for (std::int64_t x = sites[0].first; x <= last(0, kX); x += sites[0].every)
        for (const int buffer : {0, 1}) values.push_back(value_at(buffer, x, y, z));
  return values;
}

TEST(ChosenSites, AreTheSameInParts) {
  for (const auto& sites :
       {std::array<program::SitesOfAxis, 3>{{{1, 4, 3}, {0, -1, 2}, {1, -1, 3}}},
        std::array<program::SitesOfAxis, 3>{{{0, -1, 1}, {2, 3, 1}, {2, 6, 1}}},
        std::array<program::SitesOfAxis, 3>{{{5, 5, 1}, {0, -1, 1}, {0, -1, 1}}}}) {
    const Read whole = read_of(sites, kX * kY * kZ);
    EXPECT_EQ(whole.table.values, expected(sites));
    EXPECT_EQ(whole.calls, 2u);
    for (const std::size_t planes : {0, 1, 3}) {
      const Read parts = read_of(sites, planes * kX * kY);
      EXPECT_EQ(parts.table.values, whole.table.values) << planes;
      EXPECT_EQ(parts.table.shape, whole.table.shape) << planes;
      EXPECT_EQ(parts.table.numbers, whole.table.numbers) << planes;
      EXPECT_EQ(parts.table.part.count, 0) << planes;
      EXPECT_LE(parts.most, std::max<std::size_t>(1, planes) * kX * kY);
      EXPECT_GT(parts.calls, 2u) << planes;
    }
  }
}

}  // namespace
}  // namespace vphi::observe
