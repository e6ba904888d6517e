// Fields that are drawn with a power spectrum, `spectrum` and `vacuum`: chi-squared of every wave
// number by itself, the distribution of its modes, and <phi phi'> = 0 there. The planes n_x = 0 and
// N/2, where modes are conjugates of each other, are among them, and the eight modes that are real.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/fft/fft.hpp"
#include "runtime/run/starts/random_field.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr int kBoxSites = 12, kDraws = 60;
constexpr double kEdge = 7;

/// Of one wave number. `field`, `velocity`: sums of squares that are normal numbers of unit
/// variance, `numbers` of them; `products`: of a normal number of the field and one of the
/// velocity.
struct WaveNumber {
  double field = 0, velocity = 0, products = 0;
  int numbers = 0, modes = 0;
  std::array<int, 8> classes{};  ///< modes of the field by exp(-|F|^2/P), in eight equal parts
};

/// The number that a normal variable exceeds as often as chi-squared with `freedom` exceeds x
/// (Wilson and Hilferty, Proc. Nat. Acad. Sci. 17 (1931) 684).
double normal_of_chi_squared(double x, double freedom) {
  const double width = 2 / (9 * freedom);
  return (std::cbrt(x / freedom) - (1 - width)) / std::sqrt(width);
}

std::vector<fft::Complex> modes_of(const std::vector<double>& f) {
  const fft::Box box{{kBoxSites, kBoxSites, kBoxSites}};
  std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
  fft::forward(box, f.data(), modes.data(), 2);
  return modes;
}

using PowerOf = std::function<double(double)>;

void add_mode(WaveNumber& bin, fft::Complex f, fft::Complex g, bool real) {
  bin.field += 2 * std::norm(f), bin.velocity += 2 * std::norm(g);
  bin.products += 2 * (f * std::conj(g)).real();
  bin.numbers += 2;
  if (real) {  // f^2 has the mean 1, and there is no imaginary part
    bin.field -= std::norm(f), bin.velocity -= std::norm(g);
    bin.products -= (f * std::conj(g)).real();
    bin.numbers -= 1;
    return;
  }
  bin.modes += 1;
  bin.classes.at(static_cast<std::size_t>(std::min(7.0, 8 * std::exp(-std::norm(f))))) += 1;
}

/// By |n|^2, over many seeds, of the random numbers of field and velocity.
std::map<int, WaveNumber> of_wave_numbers(program::Program p, std::size_t field,
                                          std::size_t velocity, const PowerOf& P,
                                          const PowerOf& Q) {
  std::map<int, WaveNumber> bins;
  const double volume = std::pow(kEdge, 3), sites = std::pow(kBoxSites, 3);
  for (int draw = 0; draw < kDraws; ++draw) {
    p.seed = 300 + static_cast<std::uint64_t>(draw);
    const auto F = modes_of(runtime::random_field(p, p.random.at(field), 2));
    const auto G = modes_of(runtime::random_field(p, p.random.at(velocity), 2));
    for (int z = 0; z < kBoxSites; ++z)
      for (int y = 0; y < kBoxSites; ++y)
        for (int x = 0; x <= kBoxSites / 2; ++x) {
          const bool plane = x == 0 || 2 * x == kBoxSites;
          const int other = (kBoxSites - z) % kBoxSites * kBoxSites + (kBoxSites - y) % kBoxSites;
          if (plane && z * kBoxSites + y > other) continue;  // the conjugate of another
          const int my = std::min(y, kBoxSites - y), mz = std::min(z, kBoxSites - z);
          const int square = x * x + my * my + mz * mz;
          if (square == 0) continue;
          const double k = 2 * std::numbers::pi / kEdge * std::sqrt(square);
          const auto at = static_cast<std::size_t>((z * kBoxSites + y) * (kBoxSites / 2 + 1) + x);
          add_mode(bins[square], F[at] / sites * std::sqrt(volume / P(k)),
                   G[at] / sites * std::sqrt(volume / Q(k)), plane && z * kBoxSites + y == other);
        }
  }
  return bins;
}

/// 4.5 for each of some hundred numbers, and all together as many normal variables.
void expect_normal(const std::vector<std::pair<int, double>>& all, const char* what) {
  double squares = 0;
  for (const auto& [square, z] : all) {
    EXPECT_LT(std::abs(z), 4.5) << what << ", |n|^2 = " << square;
    squares += z * z;
  }
  EXPECT_LT(std::abs(normal_of_chi_squared(squares, static_cast<double>(all.size()))), 4) << what;
}

void expect_statistics(const std::map<int, WaveNumber>& bins) {
  EXPECT_GT(bins.size(), 60U);
  std::vector<std::pair<int, double>> field, velocity, products, classes;
  for (const auto& [square, bin] : bins) {
    field.emplace_back(square, normal_of_chi_squared(bin.field, bin.numbers));
    velocity.emplace_back(square, normal_of_chi_squared(bin.velocity, bin.numbers));
    products.emplace_back(square, bin.products / std::sqrt(bin.numbers));
    if (bin.modes < 80) continue;
    double sum = 0;
    for (const int count : bin.classes) sum += std::pow(count - bin.modes / 8.0, 2);
    classes.emplace_back(square, normal_of_chi_squared(sum * 8 / bin.modes, 7));
  }
  expect_normal(field, "chi-squared of the field");
  expect_normal(velocity, "chi-squared of the velocity");
  expect_normal(products, "<phi phi'>");
  expect_normal(classes, "distribution of the modes");
}

program::Program program_with(const std::string& init) {
  const auto compiled = testing::compile_text(
      "model waves \"a drawn field\"\nlattice box: 12^3, length = 7, boundary = periodic\n"
      "field phi: real\nphi'' = lap(phi) - 3*phi\ninit " +
          init +
          "\nprecision real = f64\nevolve leapfrog, dt = 0.01, until = step >= 1\nat end: "
          "mean(phi) -> \"s.h5\"\n",
      {});
  return *compiled.program;
}

TEST(StartStatistics, OfGivenSpectra) {
  const auto p =
      program_with("phi ~ spectrum(3*k^(-1.5)*exp(-k/4)), phi' ~ spectrum(k^2*exp(-k/3))");
  ASSERT_EQ(p.random.size(), 2U);
  expect_statistics(of_wave_numbers(
      p, 0, 1, [](double k) { return 3 * std::pow(k, -1.5) * std::exp(-k / 4); },
      [](double k) { return k * k * std::exp(-k / 3); }));
}

TEST(StartStatistics, OfTheVacuum) {
  const auto p = program_with("phi ~ vacuum(form = kspace)");
  ASSERT_EQ(p.random.size(), 2U);
  const auto w = [](double k) { return std::sqrt(k * k + 3); };
  expect_statistics(of_wave_numbers(
      p, 0, 1, [&](double k) { return 1 / (2 * w(k)); }, [&](double k) { return w(k) / 2; }));
}

}  // namespace
}  // namespace vphi
