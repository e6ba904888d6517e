// Result files read back: series, spectra, slices, snapshots, attributes, names.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#if __has_include(<hdf5/serial/hdf5.h>)
#include <hdf5/serial/hdf5.h>
#define VPHI_READ_HDF5
#endif

#include "runtime/device/device.hpp"
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/run.hpp"
#include "tests/run/wave_program.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::runtime {
namespace {

namespace fs = std::filesystem;
using program::Precision;

class Files : public ::testing::Test {
 protected:
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
  const testing::ScratchFolder scratch_;
  const fs::path folder_ = scratch_ / "out";
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
  EXPECT_EQ(shape, (std::vector<hsize_t>{11}));
  const auto times = dataset(file, "/series/time", shape);
  EXPECT_EQ(shape, (std::vector<hsize_t>{11}));
  const auto steps = dataset(file, "/series/step", shape);
  const Series* series = result.find("energy");
  for (std::size_t i = 0; i < series->points.size(); ++i) {
    EXPECT_EQ(times[i], series->points[i].first);
    EXPECT_EQ(energy[i], series->points[i].second);
    EXPECT_EQ(steps[i], 10.0 * static_cast<double>(i));
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
  for (std::size_t b = 0; b < 16; ++b) sites += histogram[4 * b + 2];
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

/// A lattice large enough for packed chunks, with edges that are not multiples of them.
program::Program large_lattice() {
  program::Program p;
  p.model = "large";
  p.dims = 3, p.extent = {70, 40, 66, 1};
  p.dx = p.dx_physical = 0.5;
  program::Output output;
  output.file = "large.h5";
  p.outputs = {output};
  return p;
}

std::vector<double> some_values(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.37 * static_cast<double>(i)) + 2;
  return values;
}

/// Values at every site of it.
io::Table whole(const std::string& name, const std::vector<double>& values, Precision precision) {
  return {.kind = program::OutputKind::Snapshot,
          .name = name,
          .shape = {66, 40, 70},
          .values = values,
          .precision = precision};
}

TEST_F(Files, PackedChunksAreReadByTheLibrarysOwnFilters) {
  if (!io::have_hdf5()) GTEST_SKIP();
  const auto p = large_lattice();
  const auto values = some_values(static_cast<std::size_t>(p.sites()));
  const std::vector<float> narrow(values.begin(), values.end());
  {
    io::Results results(folder_, p);
    io::ResultFile& file = results.file("large.h5");
    file.table(whole("wide", values, Precision::F64), {3, 1.5});
    io::Table raw;  // as it comes from a device
    raw.kind = program::OutputKind::Snapshot, raw.name = "narrow", raw.shape = {66, 40, 70};
    raw.precision = Precision::F32;
    auto block = std::make_shared<std::vector<float>>(narrow);
    raw.raw = {block, reinterpret_cast<const std::byte*>(block->data())};
    file.table(std::move(raw), {3, 1.5});
    io::Table slice;
    slice.kind = program::OutputKind::Slice, slice.name = "cut", slice.shape = {66, 70};
    slice.values.assign(values.begin(), values.begin() + 66 * 70);
    slice.numbers = {{"axis", 1}, {"plane", 7}, {"position", -6.25}};
    file.table(slice, {3, 1.5});
    file.table(slice, {6, 3});
    results.finish();
  }
  const hid_t file = H5Fopen((folder_ / "large.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  std::vector<hsize_t> shape;
  EXPECT_EQ(dataset(file, "/snapshots/wide/00000003", shape), values);
  EXPECT_EQ(shape, (std::vector<hsize_t>{66, 40, 70}));
  EXPECT_EQ(dataset(file, "/snapshots/narrow/00000003", shape),
            std::vector<double>(narrow.begin(), narrow.end()));
  EXPECT_EQ(dataset(file, "/slices/cut/00000006", shape),
            std::vector<double>(values.begin(), values.begin() + 66 * 70));
  const hid_t set = H5Dopen2(file, "/snapshots/wide/00000003", H5P_DEFAULT);
  const hid_t layout = H5Dget_create_plist(set);
  EXPECT_EQ(H5Pget_nfilters(layout), 3);  // shuffle, deflate, Fletcher-32
  EXPECT_LT(H5Dget_storage_size(set), values.size() * 8);
  H5Pclose(layout), H5Dclose(set);
  const auto z = dataset(file, "/axes/z", shape);
  ASSERT_EQ(z.size(), 66U);
  EXPECT_EQ(z.front(), -32.5 * 0.5);
  EXPECT_EQ(z.back(), 32.5 * 0.5);
  H5Fclose(file);
}

/// Silo's files are HDF5 inside: every array lies in the folder .silo.
TEST_F(Files, SiloHoldsMeshAndFields) {
  auto p = large_lattice();
  p.outputs[0].file = "old.silo";
  if (!io::have_silo()) {
    io::Results results(folder_, p);
    EXPECT_THROW(results.file("old.silo"), io::ResultsError);
    return;
  }
  const auto values = some_values(static_cast<std::size_t>(p.sites()));
  {
    io::Results results(folder_, p);
    io::ResultFile& file = results.file("old.silo");
    for (int step : {2, 4})
      for (const char* name : {"phi", "chi/2"})
        file.table(whole(name, values, Precision::F64), {step, 0.5 * step});
    file.scalars(std::vector<std::string>{"a"}, {2, 1}, std::vector<double>{1.5});
    results.finish();
  }
  EXPECT_EQ(text_of("old.visit"), "old_00000002.silo\nold_00000004.silo\n");
  EXPECT_EQ(text_of("old.series.csv"), "step,t,a\n2,1,1.5\n");
  const hid_t file = H5Fopen((folder_ / "old_00000004.silo").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const char* name : {"lattice", "phi", "chi_2"})
    EXPECT_GT(H5Lexists(file, name, H5P_DEFAULT), 0) << name;
  const hid_t folder = H5Gopen2(file, ".silo", H5P_DEFAULT);
  H5G_info_t about;
  H5Gget_info(folder, &about);
  int fields = 0, coordinates = 0;
  for (hsize_t k = 0; k < about.nlinks; ++k) {
    char name[64] = "";
    H5Lget_name_by_idx(folder, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
    std::vector<hsize_t> shape;
    const auto got = dataset(file, std::string("/.silo/") + name, shape);
    fields += got == values;
    coordinates += got.size() == 70 && got.front() == -34.5 * 0.5 && got.back() == 34.5 * 0.5;
  }
  EXPECT_EQ(fields, 2);
  EXPECT_GE(coordinates, 1);
  H5Gclose(folder), H5Fclose(file);
}

TEST_F(Files, ADamagedChunkIsNoticedByItsChecksum) {
  if (!io::have_hdf5()) GTEST_SKIP();
  const auto p = large_lattice();
  const auto values = some_values(static_cast<std::size_t>(p.sites()));
  {
    io::Results results(folder_, p);
    results.file("large.h5").table(whole("wide", values, Precision::F64), {0, 0});
    results.finish();
  }
  const hid_t file = H5Fopen((folder_ / "large.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "/snapshots/wide/00000000", H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  hsize_t offset[3];
  unsigned mask = 0;
  haddr_t at = 0;
  hsize_t size = 0;
  ASSERT_GE(H5Dget_chunk_info(set, space, 0, offset, &mask, &at, &size), 0);
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
  {
    std::fstream bytes(folder_ / "large.h5", std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at + size / 2));
    const char old = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(at + size / 2));
    bytes.put(static_cast<char>(old ^ 1));
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t again = H5Fopen((folder_ / "large.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t damaged = H5Dopen2(again, "/snapshots/wide/00000000", H5P_DEFAULT);
  std::vector<double> got(values.size());
  EXPECT_LT(H5Dread(damaged, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, got.data()), 0);
  H5Dclose(damaged), H5Fclose(again);
}

TEST_F(Files, AFullDiskIsAnErrorOfTheRun) {
  if (!io::have_hdf5() || !fs::exists("/dev/full")) GTEST_SKIP();
  // A file that may not grow: the writer's thread meets the limit, the run gets the message.
  const auto p = large_lattice();
  const auto values = some_values(static_cast<std::size_t>(p.sites()));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{200000, 200000};
    setrlimit(RLIMIT_FSIZE, &small);
    int told = 1;
    try {
      io::Results results(folder_, p);
      for (int step = 0; step < 4; ++step)
        results.file("large.h5").table(whole("wide", values, Precision::F64), {step, 0});
      results.finish();
    } catch (const io::ResultsError&) {
      told = 0;
    }
    _exit(told);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// What ParaView's reader does with the text, by other libraries: every reference, shape, spacing.
TEST_F(Files, XdmfAgreesWithTheArrays) {
  if (!io::have_hdf5()) GTEST_SKIP();
  std::string python;
  for (const std::string candidate : {"/usr/bin/python3", "python3"})
    if (std::system((candidate + " -c 'import h5py, lxml' 2>/dev/null").c_str()) == 0)
      python = candidate;
  if (python.empty()) GTEST_SKIP() << "needs python3-h5py and python3-lxml";
  const auto p = large_lattice();
  const auto values = some_values(static_cast<std::size_t>(p.sites()));
  {
    io::Results results(folder_, p);
    io::ResultFile& file = results.file("large.h5");
    for (int step : {0, 5}) {
      for (const char* name : {"a<b & \"c\"", "phi/2"})
        file.table(whole(name, values, step == 0 ? Precision::F64 : Precision::F32),
                   {step, 0.1 * step});
      io::Table slice;
      slice.kind = program::OutputKind::Slice, slice.name = "phi", slice.shape = {66, 70};
      slice.values.assign(values.begin(), values.begin() + 66 * 70);
      slice.numbers = {{"axis", 1}, {"plane", 7}};
      file.table(slice, {step, 0.1 * step});
      slice.shape = {40, 70}, slice.values.resize(40 * 70);
      slice.numbers = {{"axis", 2}, {"plane", 33}};
      slice.name = "phi across z";
      file.table(slice, {step, 0.1 * step});
    }
    results.finish();
  }
  const std::string command = python + " " VPHI_SOURCE_DIR "/tests/run/check_xdmf.py " +
                              (folder_ / "large.xdmf").string() + " > " +
                              (folder_ / "said").string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << text_of("said");
  EXPECT_EQ(text_of("said"),
            "slices across y at site 7: times 0 0.5, arrays 2\n"
            "slices across z at site 33: times 0 0.5, arrays 2\n"
            "snapshots: times 0 0.5, arrays 4\n");
}
#endif

// `weights = defrost` shares a mode between two bins, so a bin holds no whole number of them.
TEST_F(Files, NumbersOfModesAreNotRounded) {
  const io::Table spectrum{.kind = program::OutputKind::Spectrum,
                           .name = "phi",
                           .shape = {2, 4},
                           .values = {0.5, 2, 3, 7.125, 1, 4, 5, 12.75},
                           .columns = {"k", "P", "Delta", "modes"}};
  program::Program p;
  p.outputs.resize(2);
  p.outputs[0].file = "s.csv", p.outputs[1].file = "s.h5";
  {
    io::Results results(folder_, p);
    results.file("s.csv").table(spectrum, {8, 0.25});
    if (io::have_hdf5()) results.file("s.h5").table(spectrum, {8, 0.25});
    results.finish();
  }
  EXPECT_EQ(text_of("s.spectra.csv"),
            "name,step,t,k,P,Delta,modes\nphi,8,0.25,0.5,2,3,7.125\nphi,8,0.25,1,4,5,12.75\n");
#ifdef VPHI_READ_HDF5
  if (!io::have_hdf5()) return;
  const hid_t file = H5Fopen((folder_ / "s.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  std::vector<hsize_t> shape;
  EXPECT_EQ(dataset(file, "/spectra/phi/00000008", shape), spectrum.values);
  H5Fclose(file);
#endif
}

TEST_F(Files, NamesOfMomentsAreReadAsTheyAreMade) {
  fs::create_directories(folder_);
  for (const std::int64_t step : {0L, 128L, 99999999L, 123456789012L}) {
    const std::string name = io::file_of_moment("c", step, ".silo").string();
    EXPECT_EQ(io::step_in(name, "c", ".silo"), step) << name;
    EXPECT_FALSE(io::step_in(name, "d", ".silo")) << name;
    EXPECT_FALSE(io::step_in(name, "c", ".ildg")) << name;
    std::ofstream(folder_ / name) << "x";
  }
  EXPECT_FALSE(io::step_in("c_0128.silo", "c", ".silo"));
  EXPECT_FALSE(io::step_in("c_0000012x.silo", "c", ".silo"));
  EXPECT_FALSE(io::step_in("c.silo", "c", ".silo"));
  EXPECT_EQ(io::moments_kept(folder_ / "c", ".silo", 100000000),
            (std::set<std::int64_t>{0, 128, 99999999}));
  EXPECT_FALSE(fs::exists(folder_ / "c_123456789012.silo"));
  EXPECT_EQ(io::csv_group("wave.profiles2.csv"), "profiles");
  EXPECT_EQ(io::csv_group("wave.h5"), "");
}

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

}  // namespace
}  // namespace vphi::runtime
