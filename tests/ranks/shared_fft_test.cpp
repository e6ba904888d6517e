// Transforms of boxes whose planes ranks share have the bits of one device, mode by mode.
#include "runtime/fft/shared_fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <ostream>
#include <thread>

#include "program/fourier_map.hpp"
#include "runtime/comm/team.hpp"

namespace vphi::fft {
namespace {

struct Row {
  Box box;
  std::vector<std::int64_t> planes;  ///< by rank; of a single row sites
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.box.n[0] << "x" << row.box.n[1] << "x" << row.box.n[2] << "x" << row.box.n[3]
       << " for " << row.planes.size();
}

std::vector<double> numbers_of(const Box& box) {
  std::vector<double> f(static_cast<std::size_t>(box.sites()));
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double at = static_cast<double>(i);
    f[i] = std::sin(1.3 * at) + std::cos(0.17 * at * at);
  }
  return f;
}

/// Numbers, their transform and what comes back of it, all on one device.
struct OneDevice {
  std::vector<double> f;
  std::vector<Complex> modes;
  std::vector<double> back;
};

OneDevice on_one_device(const Box& box) {
  OneDevice one{numbers_of(box), std::vector<Complex>(static_cast<std::size_t>(box.modes())), {}};
  forward(box, one.f.data(), one.modes.data(), 1);
  std::vector<Complex> scratch = one.modes;
  one.back.resize(one.f.size());
  inverse(box, scratch.data(), one.back.data(), 1);
  return one;
}

class SharedBoxes : public ::testing::TestWithParam<Row> {};

TEST_P(SharedBoxes, HaveTheBitsOfOneDevice) {
  const auto& [box, planes] = GetParam();
  const auto [f, modes, back] = on_one_device(box);

  comm::Team team(static_cast<int>(planes.size()));
  std::vector<std::jthread> ranks;
  std::vector<int> seen(modes.size());  // by mode: how many ranks hold it
  std::mutex guard;
  const std::int64_t length = planes_of(box), all = columns_of(box);
  for (std::size_t r = 0; r < planes.size(); ++r)
    ranks.emplace_back([&, r] {
      const auto comm = team.comm(static_cast<int>(r));
      SharedTransform shared(box, planes, *comm, 1 + static_cast<int>(r));
      const std::int64_t plane = length > 1 ? box.sites() / length : 1;
      std::int64_t first = 0;
      for (std::size_t below = 0; below < r; ++below) first += planes[below] * plane;
      const auto own = std::span(f).subspan(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(planes[r] * plane));
      const std::vector<Complex> mine = shared.forward(own);
      ASSERT_EQ(static_cast<std::int64_t>(mine.size()), shared.modes());
      const auto [column, count] = shared.columns();
      {
        const std::lock_guard lock(guard);
        for (std::int64_t j = 0; j < length; ++j)
          for (std::int64_t c = 0; c < count; ++c) {
            const auto whole = static_cast<std::size_t>(j * all + column + c);
            ++seen[whole];
            ASSERT_EQ(mine[static_cast<std::size_t>(j * count + c)], modes[whole]) << whole;
          }
      }
      const std::vector<double> again = shared.inverse(mine);
      ASSERT_EQ(again.size(), own.size());
      for (std::size_t i = 0; i < again.size(); ++i)
        ASSERT_EQ(again[i], back[static_cast<std::size_t>(first) + i]) << i;
    });
  ranks.clear();
  const int holders = length > 1 ? 1 : static_cast<int>(planes.size());
  for (const int count : seen) ASSERT_EQ(count, holders);
}

INSTANTIATE_TEST_SUITE_P(
    SharedFft, SharedBoxes,
    ::testing::Values(Row{{{16, 12, 8}}, {4, 4}}, Row{{{16, 12, 8}}, {3, 3, 2}},
                      Row{{{9, 5, 7}}, {1, 2, 4}},      // odd rows start at odd addresses
                      Row{{{64, 6, 10}}, {5, 5}},       // groups of columns, the last one shorter
                      Row{{{128, 64, 1}}, {16, 48}},    // rows by 16
                      Row{{{30, 40, 1}}, {16, 8, 16}},  // rows by 8
                      Row{{{33, 9, 1}}, {4, 5}}, Row{{{8, 4, 1}}, {4, 0}},
                      Row{{{4096, 1, 1}}, {2048, 1024, 1024}}, Row{{{20, 1, 6}}, {2, 4}},
                      Row{{{6, 5, 4, 7}}, {4, 3}}, Row{{{9, 3, 1, 6}}, {2, 3, 1}}));

/// Pairs of ranks have halves of the lines of the same planes, which are 3 and 2.
TEST(SharedFft, LinesOfPlanesHaveTheBitsOfOneDevice) {
  const Box box{{16, 12, 5}};
  const std::vector<std::int64_t> planes{3, 3, 2, 2};
  const auto [f, modes, back] = on_one_device(box);
  comm::Team team(4);
  std::vector<std::jthread> ranks;
  for (int r = 0; r < 4; ++r)
    ranks.emplace_back([&, r] {
      const auto comm = team.comm(r);
      SharedTransform shared(box, planes, *comm, 1, 2);
      const auto own_of = [&](const std::vector<double>& whole) {
        std::vector<double> own;
        for (std::int64_t z = r < 2 ? 0 : 3; z < (r < 2 ? 3 : 5); ++z) {
          const auto first = whole.begin() + (z * 12 + r % 2 * 6) * 16;
          own.insert(own.end(), first, first + std::ptrdiff_t{6} * 16);
        }
        return own;
      };
      const std::vector<Complex> mine = shared.forward(own_of(f));
      const auto [column, count] = shared.columns();
      for (std::int64_t j = 0; j < planes_of(box); ++j)
        for (std::int64_t c = 0; c < count; ++c)
          ASSERT_EQ(mine[static_cast<std::size_t>(j * count + c)],
                    modes[static_cast<std::size_t>(j * columns_of(box) + column + c)]);
      ASSERT_EQ(shared.inverse(mine), own_of(back));
    });
}

TEST(SharedFft, RowsThatAreTransformedTogetherDivideTheBox) {
  EXPECT_EQ(program::planes_together({128, 64, 1, 1}), 16);
  EXPECT_EQ(program::planes_together({30, 40, 1, 1}), 8);
  EXPECT_EQ(program::planes_together({33, 9, 1, 1}), 1);
  EXPECT_EQ(program::planes_together({64, 64, 64, 1}), 1);
  EXPECT_EQ(program::planes_together({64, 1, 1, 1}), 1);
}

}  // namespace
}  // namespace vphi::fft
