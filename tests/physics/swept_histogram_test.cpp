// Histograms over an ensemble: the stationary density of a double well against exp(-V/T) by
// quadrature, first passages with those that have none, and ensembles that run in parts.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#if __has_include(<hdf5/serial/hdf5.h>)
#include <hdf5/serial/hdf5.h>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using testing::Simulation;

constexpr int kPaths = 20000, kBins = 24;
constexpr double kLow = -1.8, kHigh = 1.8, kT = 0.25;

struct Table {
  std::vector<hsize_t> shape;
  std::vector<double> values;  ///< rows of low, high, count, density
  double low(std::size_t bin) const { return values[4 * bin]; }
  double high(std::size_t bin) const { return values[4 * bin + 1]; }
  double count(std::size_t bin) const { return values[4 * bin + 2]; }
  double below = 0, above = 0, invalid = 0;
};

class SweptHistogram : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!testing::device(GetParam())) GTEST_SKIP() << "no device";
    setup_.device = GetParam();
    setup_.out = folder_.string();
  }

  /// The last table of a group in `m.h5`.
  Table table(const std::string& name) {
    Table out;
    const hid_t file = H5Fopen((folder_ / "m.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t group = H5Gopen2(file, ("/histograms/" + name).c_str(), H5P_DEFAULT);
    EXPECT_GE(group, 0) << name;
    if (group < 0) return out;
    hsize_t count = 0;
    H5Gget_num_objs(group, &count);
    char link[64];
    // beside the histogram lie the scales of its dimensions
    do {
      H5Gget_objname_by_idx(group, --count, link, sizeof link);
    } while (count > 0 && H5Aexists_by_name(group, link, "below", H5P_DEFAULT) <= 0);
    const hid_t set = H5Dopen2(group, link, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    out.shape.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, out.shape.data(), nullptr);
    out.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data());
    for (auto [key, value] : {std::pair("below", &out.below), std::pair("above", &out.above),
                              std::pair("invalid", &out.invalid)}) {
      const hid_t attribute = H5Aopen(set, key, H5P_DEFAULT);
      EXPECT_GE(attribute, 0) << key;
      H5Aread(attribute, H5T_NATIVE_DOUBLE, value);
      H5Aclose(attribute);
    }
    H5Sclose(space), H5Dclose(set), H5Gclose(group), H5Fclose(file);
    return out;
  }

  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
  Simulation setup_;
};

std::string well(const std::string& histogram) {
  return "model well \"Overdamped double well\"\nparam T = " + std::to_string(kT) +
         "\nsweep path = 1.." + std::to_string(kPaths) +
         "\nvar x: real\nV = (x^2 - 1)^2/4\nx' = -d(V, x) + sqrt(2*T)*noise\n"
         "init x ~ uniform(-1.5, 1.5)\nevolve srk2, dt = 0.02, until = t > 12\n"
         "random seed = 7\nat end: " +
         histogram + " -> \"m.h5\"\n";
}

/// Share of exp(-V/T) between two points, by Simpson's rule.
double weight(double a, double b, double temperature) {
  constexpr int kPoints = 200;
  double sum = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const double x = a + (b - a) * i / kPoints, v = std::pow(x * x - 1, 2) / 4;
    sum += (i == 0 || i == kPoints ? 1 : i % 2 ? 4 : 2) * std::exp(-v / temperature);
  }
  return sum * (b - a) / (3 * kPoints);
}

double chi_squared(const Table& t, double temperature) {
  const double all = weight(-5, 5, temperature);
  double sum = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    const double expected = kPaths * weight(t.low(b), t.high(b), temperature) / all;
    sum += std::pow(t.count(b) - expected, 2) / expected;
  }
  return sum;
}

TEST_P(SweptHistogram, StationaryDensityOfADoubleWell) {
  testing::run_text(well("histogram(x, bins = 24, low = -1.8, high = 1.8, over = path)"), setup_);
  const Table t = table("histogram(x)");
  ASSERT_EQ(t.shape, (std::vector<hsize_t>{kBins, 4}));
  double inside = 0;
  for (std::size_t b = 0; b < kBins; ++b) inside += t.count(b);
  EXPECT_EQ(inside + t.below + t.above, kPaths);
  EXPECT_EQ(t.invalid, 0);
  // 24 degrees of freedom: 24 +- sqrt(48), at most five sigma with the bias of the step
  EXPECT_LT(chi_squared(t, kT), 24 + 5 * std::sqrt(48.0));
  // and it can fail: a temperature 25 % off is far outside
  EXPECT_GT(chi_squared(t, 1.25 * kT), 24 + 10 * std::sqrt(48.0));
}

TEST_P(SweptHistogram, PartsGiveTheSame) {
  for (const char* range : {"low = -1.5, high = 1.5, ", ""}) {
    const std::string text = well(std::string("histogram(x, bins = 24, ") + range + "over = path)");
    setup_.batch = 0;
    testing::run_text(text, setup_);
    const Table whole = table("histogram(x)");
    setup_.batch = 7000;  // two parts and a rest
    testing::run_text(text, setup_);
    const Table parts = table("histogram(x)");
    EXPECT_EQ(whole.shape, parts.shape);
    // a sum of products may differ in its last bit from one size of a launch to another
    for (std::size_t i = 0; i < whole.values.size(); ++i)
      EXPECT_NEAR(whole.values[i], parts.values[i], 1e-9) << range << i;
    EXPECT_EQ(whole.below + whole.above, parts.below + parts.above);
  }
}

TEST_P(SweptHistogram, FirstPassagesThatHaveNotHappenedAreCountedApart) {
  const std::string text =
      "model m\nsweep T = [0.02, 0.4]\nsweep path = 1..500\nvar x: real\nV = (x^2 - 1)^2/4\n"
      "x' = -d(V, x) + sqrt(2*T)*noise\ninit x = -1\nevolve srk2, dt = 0.02, until = t > 8\n"
      "escape = first(t, x > 0)\nat end: mean(escape, over = path), "
      "histogram(escape, bins = 10, over = path) -> \"m.h5\"\n";
  const auto result = testing::run_text(text, setup_);
  const Table t = table("histogram(escape)");
  ASSERT_EQ(t.shape, (std::vector<hsize_t>{2, 10, 4}));
  double counted = 0;
  for (std::size_t b = 0; b < 20; ++b) counted += t.count(b);
  EXPECT_EQ(counted + t.invalid, 1000);
  EXPECT_GT(t.invalid, 400) << "almost nobody gets over a barrier of 12 T";
  EXPECT_GT(counted, 300);
  EXPECT_TRUE(std::ranges::any_of(result.notes, [](const std::string& note) {
    return note.find("histogram(escape)") != std::string::npos;
  }));
  setup_.batch = 300;
  testing::run_text(text, setup_);
  const Table parts = table("histogram(escape)");
  EXPECT_EQ(parts.invalid, t.invalid);
}

/// Averages over time of each path: the mean of v^2 of a free Brownian particle is T in each.
TEST_P(SweptHistogram, OfAveragesOverTime) {
  testing::run_text(
      "model m\nparam T = 0.5\nsweep path = 1..2000\nvar x: real\nx'' = -x' + sqrt(2*T)*noise\n"
      "init x = 0, x' ~ sqrt(T)*normal\nevolve baoab, dt = 0.1, until = t > 60\n"
      "at end: histogram(mean(x'^2, over = time), bins = 40, low = 0, high = 2, over = path) -> "
      "\"m.h5\"\n",
      setup_);
  const Table t = table("histogram(mean(x'^2, over = time))");
  double n = t.above, sum = 2 * t.above;
  for (std::size_t b = 0; b < 40; ++b)
    n += t.count(b), sum += t.count(b) * (t.low(b) + t.high(b)) / 2;
  EXPECT_EQ(n, 2000);
  // variance of v^2 is 2 T^2; its correlation time is 1/2, so 60 independent values in each path
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(2 * 0.25 / 60 / 2000));
}

INSTANTIATE_TEST_SUITE_P(Devices, SweptHistogram, ::testing::Values("native", "opencl"));

}  // namespace
}  // namespace vphi
#endif
