// Result files read back: series, spectra, slices, snapshots, attributes, names.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#if __has_include(<hdf5/serial/hdf5.h>)
#include <hdf5/serial/hdf5.h>
#define VPHI_READ_HDF5
#endif

#include "runtime/device/device.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/run.hpp"
#include "tests/run/wave_program.hpp"

namespace vphi::runtime {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("vphi_io_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  RunResult run_into(const program::Program& program) {
    const auto device = open_device("native");
    RunOptions options;
    options.out = folder_.string();
    options.keep_state = true;
    return run(program, *device, options);
  }
  std::string text_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  fs::path folder_;
};

#ifdef VPHI_READ_HDF5
std::vector<double> dataset(hid_t file, const std::string& path, std::vector<hsize_t>& shape) {
  const hid_t set = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
  EXPECT_GE(set, 0) << path;
  if (set < 0) return {};
  const hid_t space = H5Dget_space(set);
  shape.resize(H5Sget_simple_extent_ndims(space));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  std::vector<double> values(H5Sget_simple_extent_npoints(space));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space), H5Dclose(set);
  return values;
}

TEST_F(Files, Hdf5ReadBack) {
  if (!io::have_hdf5()) GTEST_SKIP();
  test::WaveOptions wave;
  const RunResult result = run_into(test::wave_program(wave));
  ASSERT_EQ(result.files.size(), 1U);
  const hid_t file = H5Fopen(result.files[0].c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  std::vector<hsize_t> shape;
  const auto energy = dataset(file, "/series/energy", shape);
  EXPECT_EQ(shape, (std::vector<hsize_t>{11, 2}));
  const Series* series = result.find("energy");
  for (std::size_t i = 0; i < series->points.size(); ++i) {
    EXPECT_EQ(energy[2 * i], series->points[i].first);
    EXPECT_EQ(energy[2 * i + 1], series->points[i].second);
  }
  dataset(file, "/series/mean(phi)|2", shape);  // the slash of mean(phi)/2
  EXPECT_EQ(shape[0], 11U);

  // the wave number 3 alone has power: Delta = k P/pi, P = L <|f~|^2>/N^2 over two modes
  const auto spectrum = dataset(file, "/spectra/phi/00000100", shape);
  EXPECT_EQ(shape, (std::vector<hsize_t>{32, 4}));
  const double amplitude = result.state[0][0];
  const double k = 2 * std::numbers::pi * 3 / 64;
  const double power = 64 * amplitude * amplitude / 4;
  EXPECT_NEAR(spectrum[4 * 2 + 0], k, 1e-14);
  EXPECT_NEAR(spectrum[4 * 2 + 1], power, 1e-11 * power);
  EXPECT_NEAR(spectrum[4 * 2 + 2], k * power / std::numbers::pi, 1e-11 * power);
  EXPECT_EQ(spectrum[4 * 2 + 3], 2);
  for (int l = 0; l < 32; ++l)
    if (l != 2) {
      EXPECT_LT(spectrum[4 * l + 1], 1e-20 * power);
    }

  EXPECT_EQ(dataset(file, "/snapshots/phi/00000100", shape), result.state[0]);
  EXPECT_EQ(dataset(file, "/slices/phi/00000100", shape), std::vector{result.state[0][7]});
  const auto histogram = dataset(file, "/histograms/phi/00000100", shape);
  double sites = 0;
  for (std::size_t b = 0; b < 16; ++b) sites += histogram[2 * b + 1];
  EXPECT_EQ(sites, 64);

  const hid_t seed = H5Aopen(file, "seed", H5P_DEFAULT);
  unsigned long value = 0;
  H5Aread(seed, H5T_NATIVE_ULONG, &value);
  EXPECT_EQ(value, 7U);
  H5Aclose(seed);
  for (const char* name : {"model", "model_text", "vphi_version", "compiler_version", "dx", "dt"})
    EXPECT_GT(H5Aexists(file, name), 0) << name;
  H5Fclose(file);
  EXPECT_NE(text_of("wave.xdmf").find("wave.h5:/snapshots/phi/00000100"), std::string::npos);
}
#endif

TEST_F(Files, CsvReadBack) {
  auto program = test::wave_program({});
  for (auto& output : program.outputs) output.file = "sub/wave.csv";
  const RunResult result = run_into(program);
  std::istringstream table(text_of("sub/wave.series.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "step,t,energy,mean(phi)/2");
  int rows = 0;
  while (std::getline(table, line)) {
    double step = 0, t = 0, energy = 0;
    char comma = 0;
    std::istringstream(line) >> step >> comma >> t >> comma >> energy;
    EXPECT_EQ(energy, result.find("energy")->points[rows].second);
    EXPECT_EQ(step, 10 * rows++);
  }
  EXPECT_EQ(rows, 11);
  EXPECT_NE(text_of("sub/wave.spectra.csv").find("phi,50,25,"), std::string::npos);
  EXPECT_EQ(result.notes.size(), 1U);  // arrays need HDF5
}

TEST_F(Files, NamesStayInTheFolder) {
  for (const char* name : {"../x.h5", "/tmp/x.h5", "a/../../x.h5", "", "a/", ".", "..", "a\nb.h5",
                           "a\\b.h5", "./x.h5"})
    EXPECT_THROW(io::inside("out", name), io::ResultsError) << name;
  EXPECT_EQ(io::inside("out", "a/b.h5"), fs::path("out/a/b.h5"));
  EXPECT_EQ(io::inside("out", "..b.h5"), fs::path("out/..b.h5"));
  auto program = test::wave_program({});
  program.outputs[0].file = "../escape.h5";
  EXPECT_THROW(run_into(program), io::ResultsError);
}

TEST_F(Files, UnwritableFolderIsAMessage) {
  std::ofstream(folder_.string()) << "a file where the folder should be";
  EXPECT_THROW(run_into(test::wave_program({})), io::ResultsError);
}

TEST(Spectrum, Multiplicities) {
  // modes in [l - 1/2, l + 1/2): CosmoLattice's table, recounted
  const std::vector<double> field(64 * 64 * 64, 0.0);
  const auto bins = io::spectrum(field, {64, 64, 64, 1}, 3, 1, 2);
  const std::int64_t expected[] = {18, 62, 98, 210, 350, 450, 602, 762};
  for (int l = 0; l < 8; ++l) EXPECT_EQ(bins[l].modes, expected[l]) << "bin " << l + 1;
  std::int64_t all = 1;
  for (const auto& bin : bins) all += bin.modes;
  EXPECT_EQ(all, 64 * 64 * 64);
}

TEST(Spectrum, ParsevalForAnyShape) {
  // sum over bins of modes times P/V is the variance
  for (const auto& [extent, dims] : {std::pair{std::array<std::int64_t, 4>{12, 9, 10, 1}, 3},
                                     std::pair{std::array<std::int64_t, 4>{15, 8, 1, 1}, 2},
                                     std::pair{std::array<std::int64_t, 4>{21, 1, 1, 1}, 1}}) {
    const std::int64_t sites = extent[0] * extent[1] * extent[2];
    std::vector<double> f(sites);
    double mean = 0, square = 0;
    for (std::int64_t i = 0; i < sites; ++i) {
      f[i] = std::sin(1.7 * static_cast<double>(i * i % 1009));
      mean += f[i] / static_cast<double>(sites);
      square += f[i] * f[i] / static_cast<double>(sites);
    }
    const double dx = 0.3, volume = std::pow(dx, dims) * static_cast<double>(sites);
    double sum = 0;
    for (const auto& bin : io::spectrum(f, extent, dims, dx, 2))
      sum += static_cast<double>(bin.modes) * bin.power / volume;
    EXPECT_NEAR(sum, square - mean * mean, 1e-13);
  }
}

TEST(Spectrum, PlaneWaveInThreeDimensions) {
  // f = A cos(k x), k = 2 k_IR: <|f~|^2> of bin 2 is 2 (A N/2)^2/62 modes
  const std::int64_t n = 16;
  std::vector<double> f(n * n * n);
  for (std::int64_t i = 0; i < n * n * n; ++i)
    f[i] = 3 * std::cos(2 * std::numbers::pi * 2 * static_cast<double>(i / n % n) / n);
  const double dx = 0.25, k = 2 * 2 * std::numbers::pi / (n * dx);
  const double sites = static_cast<double>(n * n * n);
  const double power = dx * dx * dx / sites * 2 * std::pow(3 * sites / 2, 2) / 62;
  const auto bins = io::spectrum(f, {n, n, n, 1}, 3, dx, 1);
  EXPECT_NEAR(bins[1].k, k, 1e-13);
  EXPECT_NEAR(bins[1].power, power, 1e-11 * power);
  EXPECT_NEAR(bins[1].delta, std::pow(k, 3) / (2 * std::pow(std::numbers::pi, 2)) * power,
              1e-11 * bins[1].delta);
}

TEST(Histogram, CountsEverySiteOnce) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const auto own = io::histogram(values, 4, 0, 0);
  EXPECT_EQ(own.counts, (std::vector<std::int64_t>{2, 2, 2, 3}));
  const auto part = io::histogram(values, 2, 2, 6);
  EXPECT_EQ(part.counts, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(io::histogram(std::vector<double>{5, 5}, 3, 0, 0).counts[0], 2);
}

TEST(Profile, MeanOverTheOtherAxes) {
  std::vector<double> f(4 * 3 * 5);
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) f[(z * 3 + y) * 4 + x] = 100 * z + 10 * (y - 1) + (x - 1.5);
  const auto along_z = io::axis_profile(f, {4, 3, 5, 1}, 2, 0.5);
  ASSERT_EQ(along_z.size(), 5U);
  for (int z = 0; z < 5; ++z) {
    EXPECT_NEAR(along_z[z].mean, 100 * z, 1e-12);
    EXPECT_EQ(along_z[z].x, (z - 2) * 0.5);
  }
  EXPECT_NEAR(io::axis_profile(f, {4, 3, 5, 1}, 1, 1)[2].mean, 210, 1e-12);
}

}  // namespace
}  // namespace vphi::runtime
