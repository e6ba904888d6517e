#include "tools/oracle/vacuum_power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "runtime/run/starts/random_field.hpp"

namespace vphi::tools {
namespace {

using LongComplex = std::complex<long double>;

constexpr int kEdge = 16, kSeeds = 64, kShells = 4;
constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;

std::size_t sites_of(int dims) {
  std::size_t sites = 1;
  for (int k = 0; k < dims; ++k) sites *= kEdge;
  return sites;
}

/// sum_x f(x) exp(-2 pi i n x/N), axis after axis.
std::vector<LongComplex> transformed(std::vector<LongComplex> box) {
  std::vector<LongComplex> wheel;
  for (int i = 0; i < kEdge; ++i) wheel.push_back(std::polar(1.0L, -kTurn * i / kEdge));
  for (std::size_t stride = 1; stride < box.size(); stride *= kEdge) {
    std::vector<LongComplex> next(box.size());
    for (std::size_t i = 0; i < box.size(); ++i) {
      const std::size_t n = i / stride % kEdge, base = i - n * stride;
      for (std::size_t j = 0; j < kEdge; ++j)
        next[i] += box[base + j * stride] * wheel[n * j % kEdge];
    }
    box = std::move(next);
  }
  return box;
}

/// |n|^2 of the mode at place i.
long double square_of(std::size_t i, std::size_t sites) {
  long double square = 0;
  for (std::size_t stride = 1; stride < sites; stride *= kEdge) {
    const int n = static_cast<int>(i / stride % kEdge);
    const int near = n > kEdge / 2 ? n - kEdge : n;
    square += near * near;
  }
  return square;
}

}  // namespace

ShellPower vacuum_power(const program::Program& given, const VacuumStart& start) {
  program::Program p = given;
  p.extent = {1, 1, 1, 1};
  for (std::size_t k = 0; k < static_cast<std::size_t>(start.dims); ++k) p.extent[k] = kEdge;
  const long double dk = kTurn / (kEdge * start.dx);
  const long double cut = (kEdge / 2 + 1) * dk / 2;
  const bool smooth = start.kernel_form && start.cutoff == 0;
  const std::size_t sites = sites_of(start.dims);
  ShellPower sums{std::vector<long double>(kShells + 1), std::vector<long double>(kShells + 1),
                  std::vector<int>(kShells + 1)};
  for (int seed = 0; seed < kSeeds; ++seed) {
    p.seed = 31 + static_cast<std::uint64_t>(seed);
    const auto values = runtime::random_field(p, given.random.at(start.place), 1);
    const auto box = transformed({values.begin(), values.end()});
    for (std::size_t i = 0; i < box.size(); ++i) {
      const long double square = square_of(i, sites);
      const auto shell = static_cast<std::size_t>(std::lround(std::sqrt(square)));
      if (shell == 0 || shell > kShells) continue;
      const long double k2 = square * dk * dk;
      const long double w = std::sqrt(k2 + std::max(0.0L, start.mass2));
      sums.power[shell] += std::norm(box[i] * start.response / static_cast<long double>(sites));
      sums.expected[shell] += std::pow(dk / kTurn, start.dims) / (2 * w) *
                              (smooth ? std::exp(-2 * k2 / (cut * cut)) : 1);
      ++sums.modes[shell];
    }
  }
  return sums;
}

ShellPower spectrum_power(const program::Program& given, std::size_t place, long double response,
                          long double dx, const std::function<long double(long double k)>& power) {
  constexpr int kDraws = 1000;
  program::Program p = given;
  const std::array<std::int64_t, 3> n{p.extent[0], p.extent[1], p.extent[2]};
  const auto sites = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  const auto numbers = [&](std::size_t i) {
    const auto site = static_cast<std::int64_t>(i);
    return std::array{site % n[0], site / n[0] % n[1], site / (n[0] * n[1])};
  };
  std::vector<std::vector<LongComplex>> values;
  for (int seed = 0; seed < kDraws; ++seed) {
    p.seed = 31 + static_cast<std::uint64_t>(seed);
    const auto drawn = runtime::random_field(p, given.random.at(place), 1);
    values.emplace_back(drawn.begin(), drawn.end());
  }
  std::map<long long, std::size_t> shells;  // |k|^2 in small units -> shell
  ShellPower sums{{0}, {0}, {0}};
  for (std::size_t mode = 1; mode < sites; ++mode) {
    const auto m = numbers(mode);
    long double square = 0, volume = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const long double near = std::min(m[a], n[a] - m[a]);
      if (n[a] > 1) square += std::pow(kTurn * near / (static_cast<long double>(n[a]) * dx), 2);
      if (n[a] > 1) volume *= static_cast<long double>(n[a]) * dx;
    }
    const auto [shell, fresh] =
        shells.try_emplace(std::llround(square * dx * dx * 1e9L), sums.power.size());
    if (fresh) sums.power.push_back(0), sums.expected.push_back(0), sums.modes.push_back(0);
    const std::size_t l = shell->second;
    std::vector<LongComplex> phase;
    for (std::size_t i = 0; i < sites; ++i) {
      const auto x = numbers(i);
      long double turns = 0;
      for (std::size_t a = 0; a < 3; ++a)
        turns += static_cast<long double>(m[a] * x[a]) / static_cast<long double>(n[a]);
      phase.push_back(std::polar(1.0L, -kTurn * turns) / static_cast<long double>(sites));
    }
    for (const auto& box : values) {
      LongComplex f = 0;
      for (std::size_t i = 0; i < sites; ++i) f += phase[i] * box[i];
      sums.power[l] += std::norm(f * response);
    }
    sums.expected[l] += kDraws * power(std::sqrt(square)) / volume;
    sums.modes[l] += kDraws;
  }
  return sums;
}

void judge_power(const ShellPower& shells, bool kernel_form, double sigmas, DerivativeRow& row) {
  row.allowed = 0;
  for (std::size_t shell = 1; shell < shells.modes.size(); ++shell) {
    if (shells.modes[shell] == 0) continue;
    // the correlator is sampled within half a box: long waves are averaged over it
    const double own = kernel_form ? (shell == 1 ? 0.15 : 0.05) : 0;
    const double allowed = own + sigmas * std::sqrt(2.0 / shells.modes[shell]);
    const double off =
        static_cast<double>(std::fabs(shells.power[shell] / shells.expected[shell] - 1));
    row.points += shells.modes[shell];
    if (off / allowed > (row.allowed > 0 ? row.deviation / row.allowed : -1)) {
      row.deviation = off;
      row.allowed = allowed;
    }
  }
}

}  // namespace vphi::tools
