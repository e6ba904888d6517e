// `init phi ~ spectrum(P)`: the power in every bin, independence of field and velocity, components,
// files, sweeps, lattices that get finer; spectra of single wave numbers; parts of snapshots.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>

#include "program/wave_numbers.hpp"
#include "runtime/fft/fft.hpp"
#include "runtime/observe/reduce.hpp"
#include "runtime/observe/spectrum.hpp"
#include "runtime/run/starts/random_field.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_text;
using testing::last;
using testing::run_text;

constexpr double kBoxLength = 7;

std::string model_of_waves(const std::string& lattice, const std::string& init,
                           const std::string& field = "real") {
  return "model waves \"waves of a given power\"\nlattice box: " + lattice +
         ", length = " + testing::exact(kBoxLength) + ", boundary = periodic\nfield phi: " + field +
         "\nphi'' = lap(phi)\ninit " + init +
         "\nprecision real = f64\nevolve leapfrog, dt = 0.01, until = step >= 1\nat end: "
         "mean(norm2(phi)) -> \"s.h5\"\n";
}

double given_power(double k) { return 3 * std::pow(k, -1.5) * std::exp(-k / 4); }
const char* const kPower = "3*k^(-1.5)*exp(-k/4)";

struct Moments {
  double sum = 0, square = 0;
  int count = 0;
};

/// |F_k|^2 V over P(k) for each |n|^2 of a cube of three dimensions or four, over many seeds. The
/// planes n_x = 0 and N/2 have conjugate pairs and are left out.
std::map<int, Moments> ratios(program::Program p, std::size_t place, int n, int draws) {
  std::map<int, Moments> bins;
  const double volume = std::pow(kBoxLength, p.dims);
  const fft::Box box{{n, n, n, p.dims == 4 ? n : 1}};
  for (int draw = 0; draw < draws; ++draw) {
    p.seed = 50 + static_cast<std::uint64_t>(draw);
    const auto f = runtime::random_field(p, p.random.at(place), 2);
    std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
    fft::forward(box, f.data(), modes.data(), 2);
    for (int mode = 0; mode < std::ssize(modes); ++mode) {
      const int x = mode % (n / 2 + 1);
      if (x == 0 || 2 * x == n) continue;
      int square = x * x;
      for (int row = mode / (n / 2 + 1); row > 0; row /= n) {
        const int near = std::min(row % n, n - row % n);
        square += near * near;
      }
      const double k = 2 * std::numbers::pi / kBoxLength * std::sqrt(square);
      const auto F = modes[static_cast<std::size_t>(mode)] / static_cast<double>(box.sites());
      const double ratio = std::norm(F) * volume / given_power(k);
      bins[square].sum += ratio, bins[square].square += ratio * ratio, ++bins[square].count;
    }
  }
  return bins;
}

// |F|^2 of a complex normal number is exponential: mean 1, mean square 2.
void expect_power(const std::string& lattice, int n, int draws, int fewest) {
  const auto compiled =
      compile_text(model_of_waves(lattice, std::string("phi ~ spectrum(") + kPower + ")"), {});
  ASSERT_EQ(compiled.program->random.size(), 1U);
  double chi2 = 0;
  int bins = 0;
  for (const auto& [square, m] : ratios(*compiled.program, 0, n, draws)) {
    const double off = (m.sum / m.count - 1) * std::sqrt(static_cast<double>(m.count));
    EXPECT_LT(std::abs(off), 4.5) << square;
    EXPECT_NEAR(m.square / m.count, 2, 8 * std::sqrt(20.0 / m.count)) << square;
    chi2 += off * off, ++bins;
  }
  EXPECT_GT(bins, fewest);
  EXPECT_NEAR(chi2, bins, 4 * std::sqrt(2.0 * bins));
}

TEST(SpectrumStart, EveryWaveNumberHasItsPower) { expect_power("12^3", 12, 60, 60); }

TEST(SpectrumStart, InFourDimensionsToo) { expect_power("8^4", 8, 40, 30); }

// A field of real numbers: each mode and its mirror image, in planes that hold both.
TEST(SpectrumStart, TheVarianceInFourDimensionsIsTheSumOverAllModes) {
  const auto compiled =
      compile_text(model_of_waves("[6, 4, 5, 4]", "phi ~ spectrum(1/(1 + k^2))"), {});
  auto p = *compiled.program;
  const auto numbers = program::WaveNumbers::of(p.extent);
  const auto modes = numbers->modes();
  double expected = 0, volume = 1, sum = 0;
  for (const std::int64_t n : p.extent) volume *= p.dx * static_cast<double>(n);
  for (std::size_t i = 1; i < modes.size(); ++i)
    expected += static_cast<double>(modes[i]) / (1 + std::pow(numbers->k_dx(i) / p.dx, 2)) / volume;
  constexpr int kDraws = 300;
  for (int draw = 0; draw < kDraws; ++draw) {
    p.seed = 11 + static_cast<std::uint64_t>(draw);
    for (const double v : runtime::random_field(p, p.random[0], 1)) sum += v * v / 480 / kDraws;
  }
  EXPECT_NEAR(sum / expected, 1, 0.03);
}

// Momenta of links take waves for each generator, and Gauss's law stays in reach of `gauss = 0`.
TEST(SpectrumStart, MomentaOfLinksHaveTheirPower) {
  const std::string text = R"(model waves "momenta of links"
lattice box: 12^3, length = )" +
                           testing::exact(kBoxLength) + R"(, boundary = periodic
gauge U: SU(2), E: su(2)
P[i,j] = loop(i, j, -i, -j)
H = total(sum(norm2(E[i]), i) + sum(2 - re(tr(P[i,j])), i < j))
init U = 1, E ~ spectrum()" +
                           kPower +
                           R"()
precision real = f64
evolve leapfrog, dt = 0.01, until = step >= 1
at end: mean(norm2(E[x])) -> "s.h5"
)";
  const auto compiled = compile_text(text, {});
  ASSERT_EQ(compiled.program->random.size(), 9U);  // of three generators along three axes
  for (const std::size_t place : {std::size_t{0}, std::size_t{8}}) {
    double sum = 0, count = 0;
    for (const auto& [square, m] : ratios(*compiled.program, place, 12, 10))
      sum += m.sum, count += m.count;
    EXPECT_NEAR(sum / count, 1, 5 / std::sqrt(count)) << place;
  }
}

TEST(SpectrumStart, TheVarianceIsTheSumOverAllModes) {
  const auto numbers = program::WaveNumbers::of({10, 8, 6, 1});
  ASSERT_TRUE(numbers);
  const auto modes = numbers->modes();
  std::int64_t all = 0;
  for (const auto m : modes) all += m;
  EXPECT_EQ(all, 10 * 8 * 6);
  EXPECT_EQ(numbers->place({1, 0, 0}), 1U);  // the longest edge has the smallest wave number
  EXPECT_NEAR(numbers->k_dx(1), 2 * std::numbers::pi / 10, 1e-14);
}

// Two calls draw from streams of their own: <phi phi'> = 0.
TEST(SpectrumStart, FieldAndVelocityAreIndependent) {
  const auto compiled = compile_text(
      model_of_waves("16^3", "phi ~ spectrum(exp(-k/4)), phi' ~ spectrum(k^2*exp(-k/4))"), {});
  ASSERT_EQ(compiled.program->random.size(), 2U);
  auto p = *compiled.program;
  double product = 0, a2 = 0, b2 = 0;
  for (int draw = 0; draw < 20; ++draw) {
    p.seed = 7 + static_cast<std::uint64_t>(draw);
    const auto a = runtime::random_field(p, p.random[0], 2);
    const auto b = runtime::random_field(p, p.random[1], 2);
    for (std::size_t i = 0; i < a.size(); ++i)
      product += a[i] * b[i], a2 += a[i] * a[i], b2 += b[i] * b[i];
  }
  // some thousand independent modes carry the power
  EXPECT_LT(std::abs(product) / std::sqrt(a2 * b2), 0.02);
}

// The same long waves on a finer lattice of the same size.
TEST(SpectrumStart, LongWavesStayWhereTheLatticeGetsFiner) {
  const std::string init = "phi ~ spectrum((k < 3.1)*exp(-k))";
  const auto coarse = compile_text(model_of_waves("8^3", init), {}),
             fine = compile_text(model_of_waves("16^3", init), {});
  const auto a = runtime::random_field(*coarse.program, coarse.program->random[0], 1);
  const auto b = runtime::random_field(*fine.program, fine.program->random[0], 1);
  // sites of the coarse lattice lie between those of the fine one: compare mode by mode
  const fft::Box small{{8, 8, 8}}, large{{16, 16, 16}};
  std::vector<fft::Complex> f(static_cast<std::size_t>(small.modes())),
      g(static_cast<std::size_t>(large.modes()));
  fft::forward(small, a.data(), f.data(), 1);
  fft::forward(large, b.data(), g.data(), 1);
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y) {
      const auto one = f[static_cast<std::size_t>(y * 5 + x)] / 512.0;
      const auto other = g[static_cast<std::size_t>(y * 9 + x)] / 4096.0;
      EXPECT_NEAR(std::abs(one - other), 0, 1e-12) << x << " " << y;
    }
}

// The output `spectrum` of single wave numbers gives P back on average; of a complex field the sum
// of both parts.
TEST(SpectrumStart, TheOutputGivesThePowerBack) {
  for (const char* type : {"real", "complex"}) {
    const auto compiled =
        compile_text(model_of_waves("16^2", "phi ~ spectrum(5/(1 + k^2))", type), {});
    auto p = *compiled.program;
    double sum = 0, expected = 0;
    const auto numbers = program::WaveNumbers::of(p.extent);
    const auto modes = numbers->modes();
    for (std::size_t i = 1; i < modes.size(); ++i) {
      const double k = numbers->k_dx(i) / (kBoxLength / 16);
      expected += static_cast<double>(modes[i]) * 5 / (1 + k * k) / (kBoxLength * kBoxLength);
    }
    constexpr int kDraws = 200;
    for (int draw = 0; draw < kDraws; ++draw) {
      p.seed = 11 + static_cast<std::uint64_t>(draw);
      for (const auto& random : p.random)
        for (const double v : runtime::random_field(p, random, 1)) sum += v * v / 256 / kDraws;
    }
    EXPECT_NEAR(sum / expected, 1, 0.05) << type;
  }
}

TEST(SpectrumStart, AFileThatDoesNotReachIsRefused) {
  const auto file = std::filesystem::temp_directory_path() / "vphi_spectrum_start.txt";
  std::ofstream(file) << "1.0 3\n2.0 2\n3.0 1\n";
  const std::string name = '"' + file.string() + '"';
  EXPECT_THROW(compile_text(model_of_waves("16^2", "phi ~ spectrum(" + name + ")"), {}),
               std::runtime_error);
  const auto given = compile_text(
      model_of_waves("16^2", "phi ~ spectrum(table(" + name + ", k, outside = 0))"), {});
  EXPECT_TRUE(given.program);
  std::filesystem::remove(file);
}

// ---- outputs ------------------------------------------------------------------------------------

// A plane wave is in the bin of its own wave number alone; with sharp shells (3, 0) and (2, 2)
// share one.
TEST(SingleWaveNumbers, HaveABinEach) {
  const observe::Grid grid{{16, 16, 1, 1}, 2, 0.5, 1};
  std::vector<double> f;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      f.push_back(std::cos(2 * std::numbers::pi * 3 * x / 16) +
                  2 * std::cos(2 * std::numbers::pi * (2 * x + 2 * y) / 16));
  std::vector<double> power(static_cast<std::size_t>(grid.box().modes()));
  observe::add_power(grid, f, 1, power);
  program::SpectrumForm form;
  form.single = true, form.version = 2;
  const double k_ir = 2 * std::numbers::pi / 8;
  double modes = 0;
  for (const auto& bin : observe::spectrum(grid, form, power)) {
    modes += bin.modes;
    const double n2 = std::pow(bin.k / k_ir, 2);
    // P = dx^2 sites <|f~/sites|^2>: 1/4 in two of the four modes of |n| = 3, 1 in two of four
    const double unit = 0.25 * 256;
    const double expected = std::abs(n2 - 9) < 1e-9   ? unit / 4 / 2
                            : std::abs(n2 - 8) < 1e-9 ? unit / 2
                                                      : 0;
    EXPECT_NEAR(bin.power, expected, 1e-10) << n2;
  }
  EXPECT_EQ(modes, 255);
}

TEST(Snapshots, OfAPartOfTheBox) {
  const auto compiled = compile_text(model_of_waves("8^2", "phi = 1"), {});
  program::FieldOutput field;
  field.kind = program::OutputKind::Snapshot;
  field.sites[0] = {1, 6, 2};
  field.sites[1] = {3, -1, 4};
  const observe::ReadBuffer read = [](int) {
    std::vector<double> sites(64);
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = static_cast<double>(i);
    return sites;
  };
  const auto table = observe::reduce(*compiled.program, field, read, {}, 1);
  EXPECT_EQ(table.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(table.values, (std::vector<double>{25, 27, 29, 57, 59, 61}));
  const double dx = kBoxLength / 8;
  for (const auto& [name, value] : table.numbers) {
    if (name == "first_x") {
      EXPECT_NEAR(value, (1 - 3.5) * dx, 1e-12);
    } else if (name == "step_y") {
      EXPECT_NEAR(value, 4 * dx, 1e-12);
    }
  }
  EXPECT_EQ(table.numbers.size(), 4U);
}

}  // namespace
}  // namespace vphi
