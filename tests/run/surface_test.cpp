// Surfaces of a level: the circle, the sphere and the sphere of four dimensions against an
// independent code and closed forms, cells with several patches, ends of the box, threads.
#include "runtime/observe/surface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace vphi::observe {
namespace {

using std::numbers::pi;

constexpr std::array<double, 4> kCentre{0.03, 0.07, 0.11, 0.13};

Cells box(int dims, std::int64_t sites, double low, double high) {
  Cells cells;
  cells.dims = dims;
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k) {
    cells.extent[k] = sites;
    cells.first[k] = low;
    cells.spacing[k] = (high - low) / static_cast<double>(sites - 1);
  }
  return cells;
}

template <class Function>
std::vector<double> at_sites(const Cells& cells, const Function& f) {
  std::vector<double> values;
  std::array<std::int64_t, 4> i{};
  for (i[3] = 0; i[3] < cells.extent[3]; ++i[3])
    for (i[2] = 0; i[2] < cells.extent[2]; ++i[2])
      for (i[1] = 0; i[1] < cells.extent[1]; ++i[1])
        for (i[0] = 0; i[0] < cells.extent[0]; ++i[0]) {
          std::array<double, 4> x{};
          for (std::size_t k = 0; k < 4; ++k)
            x[k] = cells.first[k] + static_cast<double>(i[k]) * cells.spacing[k];
          values.push_back(f(x));
        }
  return values;
}

double ball(const std::array<double, 4>& x, int dims) {
  double r2 = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(dims); ++k)
    r2 += std::pow(x[k] - kCentre[k], 2);
  return std::exp(-r2 / 2);
}

struct Sums {
  double area = 0, volume = 0;
  std::array<double, 4> normal{};
};

Sums sums_of(const Surface& surface, int dims, int carried = 0) {
  Sums sums;
  const auto n = static_cast<std::size_t>(dims);
  std::array<long double, 4> normal{};
  for (std::size_t at = 0; at < surface.rows.size();
       at += 2 * n + static_cast<std::size_t>(carried)) {
    double square = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double component = surface.rows[at + n + k];
      square += component * component;
      normal[k] += component;
      sums.volume += (surface.rows[at + k] - kCentre[k]) * component / dims;
    }
    sums.area += std::sqrt(square);
  }
  for (std::size_t k = 0; k < 4; ++k) sums.normal[k] = static_cast<double>(normal[k]);
  return sums;
}

struct Sphere {
  int dims;
  std::int64_t cells, elements;
  double area, volume;  ///< relative errors of an independent code
};

class Spheres : public ::testing::TestWithParam<Sphere> {};

TEST_P(Spheres, AreTheSameAsOfAnIndependentCode) {
  const Sphere& known = GetParam();
  const Cells cells = box(known.dims, known.cells + 1, -2, 2);
  const auto values = at_sites(cells, [&](const auto& x) { return ball(x, known.dims); });
  const Surface surface = surface_of(cells, values, std::exp(-0.5), {}, 1);
  if (known.elements > 0) {
    EXPECT_EQ(surface.elements, known.elements);
  }
  EXPECT_EQ(surface.at_edge, 0);
  const Sums sums = sums_of(surface, known.dims);
  const double area = known.dims == 2 ? 2 * pi : known.dims == 3 ? 4 * pi : 2 * pi * pi;
  EXPECT_NEAR(sums.area / area - 1, known.area, std::fabs(0.002 * known.area));
  EXPECT_NEAR(sums.volume * known.dims / area - 1, known.volume, std::fabs(0.004 * known.volume));
  for (const double sum : sums.normal) EXPECT_NEAR(sum, 0, 5e-14);
  if (known.elements > 10000) return;  // seconds
  const Surface again = surface_of(cells, values, std::exp(-0.5), {}, 3);
  EXPECT_EQ(again.rows, surface.rows);
}

INSTANTIATE_TEST_SUITE_P(
    Surface, Spheres,
    ::testing::Values(Sphere{2, 16, 0, -3.90e-3, -1.31e-2}, Sphere{2, 32, 0, -9.52e-4, -3.24e-3},
                      Sphere{2, 64, 0, -2.39e-4, -8.28e-4}, Sphere{3, 16, 306, -1.971e-2, -3.73e-2},
                      Sphere{3, 32, 1202, -4.904e-3, -9.30e-3},
                      Sphere{3, 64, 4826, -1.228e-3, -2.34e-3},
                      Sphere{4, 12, 946, -8.23e-2, -0.126}, Sphere{4, 24, 7338, -2.07e-2, -3.21e-2},
                      Sphere{4, 48, 58128, -5.18e-3, -8.07e-3}));

/// One cell with these values at its corners, the first axis fastest.
Surface one_cell(int dims, const std::vector<double>& values) {
  return surface_of(box(dims, 2, 0, 1), values, 0.5, {}, 1);
}

TEST(Surface, InASquareTheMeanSaysWhichCornersAreJoined) {
  // high at (0, 0) and (1, 1); lines at a quarter of the edges
  const Surface joined = one_cell(2, {1.5, 0.2, 0.2, 1.5});
  ASSERT_EQ(joined.elements, 2);
  const Surface apart = one_cell(2, {0.8, -0.5, -0.5, 0.8});
  ASSERT_EQ(apart.elements, 2);
  const double cut = (1.5 - 0.5) / 1.3;  // of an edge, from its high corner
  for (std::size_t i = 0; i < 2; ++i) {
    // joined: lines around the low corners (1, 0) and (0, 1)
    EXPECT_NEAR(std::fabs(joined.rows[4 * i] - joined.rows[4 * i + 1]), cut, 1e-15);
    EXPECT_LT(joined.rows[4 * i + 2] * joined.rows[4 * i + 3], 0);
    // apart: around the high corners (0, 0) and (1, 1); normals point away from them
    EXPECT_NEAR(apart.rows[4 * i], apart.rows[4 * i + 1], 1e-15);
    EXPECT_GT((0.5 - apart.rows[4 * i]) * apart.rows[4 * i + 2], 0);
    EXPECT_GT(apart.rows[4 * i + 2] * apart.rows[4 * i + 3], 0);
  }
}

TEST(Surface, PatchesOfACellAreSeparateElements) {
  const Surface cube = one_cell(3, {1, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(cube.elements, 2);
  std::vector<double> corners(16);
  corners[0] = corners[15] = 1;
  const Surface hyper = one_cell(4, corners);
  ASSERT_EQ(hyper.elements, 2);
  // each cuts a simplex off the corner: the component of its normal is the volume (1/2)^3/6
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(hyper.rows[4 + k], 1.0 / 48, 1e-16);
    EXPECT_NEAR(hyper.rows[12 + k], -1.0 / 48, 1e-16);
    EXPECT_NEAR(hyper.rows[k], 0.125, 1e-15);
  }
}

TEST(Surface, NormalsOfRandomValuesCloseInEveryDimension) {
  for (int dims = 1; dims <= 4; ++dims) {
    Cells cells = box(dims, 6, 0, 5);
    cells.joined = {true, true, true, true};
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> any(-1, 1);
    const auto values = at_sites(cells, [&](const auto&) { return any(engine); });
    const Surface surface = surface_of(cells, values, 0.1, {}, 2);
    EXPECT_GT(surface.elements, 1);
    for (const double sum : sums_of(surface, dims).normal) EXPECT_NEAR(sum, 0, 1e-12) << dims;
  }
}

TEST(Surface, LinearFunctionsAreCarriedExactly) {
  Cells cells = box(3, 5, -1, 1);
  cells.spacing[1] = 0.3;
  const auto plane = [](const auto& x) { return 2 * x[0] + x[1] - 3 * x[2]; };
  const auto other = at_sites(cells, [](const auto& x) { return 1 + x[0] - 2 * x[1] + x[2]; });
  const Surface surface = surface_of(cells, at_sites(cells, plane), 0.17, {&other, 1}, 1);
  ASSERT_GT(surface.elements, 10);
  EXPECT_GT(surface.at_edge, 0);
  EXPECT_LT(surface.at_edge, surface.elements);
  for (std::size_t at = 0; at < surface.rows.size(); at += 7) {
    const double* row = surface.rows.data() + at;
    EXPECT_NEAR(2 * row[0] + row[1] - 3 * row[2], 0.17, 1e-14);
    EXPECT_NEAR(row[6], 1 + row[0] - 2 * row[1] + row[2], 1e-14);
    // the normal is antiparallel to the gradient (2, 1, -3)
    EXPECT_NEAR(row[3], 2 * row[4], 1e-14);
    EXPECT_NEAR(row[5], -3 * row[4], 1e-14);
    EXPECT_LT(row[3], 0);
  }
}

TEST(Surface, JoinedAxesHaveACellMore) {
  Cells cells = box(1, 4, 0, 3);
  const std::vector<double> values{1, 1, 0, 0};
  EXPECT_EQ(surface_of(cells, values, 0.5, {}, 1).rows, (std::vector<double>{1.5, 1}));
  cells.joined[0] = true;
  EXPECT_EQ(surface_of(cells, values, 0.5, {}, 1).rows, (std::vector<double>{1.5, 1, 3.5, -1}));
}

}  // namespace
}  // namespace vphi::observe
