// Outputs computed from arrays: spectra, occupation numbers, histograms, profiles, correlators and
// the transverse-traceless part, against closed forms and direct sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "runtime/observe/histogram.hpp"
#include "runtime/observe/profile.hpp"
#include "runtime/observe/spectrum.hpp"
#include "runtime/observe/transverse.hpp"

namespace vphi::observe {
namespace {

using program::SpectrumForm;
using std::numbers::pi;

std::vector<double> noise(std::int64_t sites, unsigned seed = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.3, 1);
  std::vector<double> f(static_cast<std::size_t>(sites));
  for (double& v : f) v = normal(engine);
  return f;
}

double mean(const std::vector<double>& f) {
  return std::accumulate(f.begin(), f.end(), 0.0) / static_cast<double>(f.size());
}

double variance(const std::vector<double>& f) {
  double sum = 0;
  for (const double v : f) sum += std::pow(v - mean(f), 2);
  return sum / static_cast<double>(f.size());
}

std::vector<double> power_of(const Grid& grid, const std::vector<double>& f) {
  std::vector<double> power(static_cast<std::size_t>(grid.box().modes()));
  add_power(grid, f, 1, power);
  return power;
}

const std::vector<Grid>& grids() {
  static const std::vector<Grid> list{{{12, 9, 10, 1}, 3, 0.3, 2},
                                      {{16, 16, 16, 1}, 3, 0.5, 1},
                                      {{15, 8, 1, 1}, 2, 0.3, 2},
                                      {{21, 1, 1, 1}, 1, 0.3, 2},
                                      {{6, 5, 8, 7}, 4, 0.4, 2}};
  return list;
}

TEST(Spectrum, Multiplicities) {
  // modes in [l - 1/2, l + 1/2): CosmoLattice's table, recounted
  const Grid grid{{64, 64, 64, 1}, 3, 1, 2};
  const auto bins = spectrum(grid, {}, std::vector<double>(grid.box().modes()));
  const double expected[] = {18, 62, 98, 210, 350, 450, 602, 762};
  for (int l = 0; l < 8; ++l) EXPECT_EQ(bins[l].modes, expected[l]) << "bin " << l + 1;
  double all = 1;
  for (const auto& bin : bins) all += bin.modes;
  EXPECT_EQ(all, 64 * 64 * 64);
}

TEST(Spectrum, ParsevalForAnyShape) {
  // sum over bins of modes times P/V is the variance
  for (const Grid& grid : grids()) {
    const auto f = noise(grid.sites());
    const double volume = std::pow(grid.dx, grid.dims) * static_cast<double>(grid.sites());
    double sum = 0;
    for (const auto& bin : spectrum(grid, {}, power_of(grid, f)))
      sum += bin.modes * bin.power / volume;
    EXPECT_NEAR(sum, variance(f), 1e-12);
  }
}

TEST(Spectrum, TypeOneAddsUpToTheVariance) {
  // sum_l Delta dlog k with dlog k = k_IR/k; version 3 has k inside: sum of modes with their own k
  for (const Grid& grid : grids()) {
    const auto f = noise(grid.sites(), 7);
    for (const int version : {1, 2}) {
      SpectrumForm form;
      form.type = 1;
      form.version = version;
      double sum = 0;
      for (const auto& bin : spectrum(grid, form, power_of(grid, f)))
        sum += bin.delta * grid.k_ir() / bin.k;
      EXPECT_NEAR(sum, variance(f), 1e-12) << version;
    }
  }
}

TEST(Spectrum, VersionsAgainstSumsOverModes) {
  const Grid grid{{10, 8, 12, 1}, 3, 0.4, 2};
  const auto power = power_of(grid, noise(grid.sites(), 3));
  // bin 3 by hand
  double modes = 0, k1 = 0, p = 0, k3p = 0, kp = 0;
  for (int z = 0; z < 12; ++z)
    for_plane(grid, z, [&](std::int64_t i, const Mode& m) {
      if (m.distance < 2.5 || m.distance >= 3.5) return;
      const double k = grid.k_ir() * m.distance, w = m.weight;
      modes += w, k1 += w * k, p += w * power[i], kp += w * k * power[i];
      k3p += w * k * k * k * power[i];
    });
  const double sites = 960, normal = std::pow(0.4, 3) / sites;
  SpectrumForm form;
  const auto bin = [&](int type, int version) {
    form.type = type, form.version = version;
    return spectrum(grid, form, power)[2];
  };
  EXPECT_NEAR(bin(2, 1).k, 3 * grid.k_ir(), 1e-13);
  EXPECT_NEAR(bin(2, 2).k, k1 / modes, 1e-13);
  EXPECT_NEAR(bin(2, 2).power, normal * p / modes, 1e-13);
  EXPECT_NEAR(bin(2, 2).delta, std::pow(k1 / modes, 3) / (2 * pi * pi) * normal * p / modes, 1e-12);
  EXPECT_NEAR(bin(2, 3).delta, normal * k3p / modes / (2 * pi * pi), 1e-12);
  EXPECT_NEAR(bin(1, 3).delta, kp / (grid.k_ir() * sites * sites), 1e-12);
}

TEST(Spectrum, PlaneWaveInThreeDimensions) {
  // f = A cos(k x), k = 2 k_IR: <|f~|^2> of bin 2 is 2 (A N/2)^2/62 modes
  const std::int64_t n = 16;
  std::vector<double> f(n * n * n);
  for (std::int64_t i = 0; i < n * n * n; ++i)
    f[i] = 3 * std::cos(2 * pi * 2 * static_cast<double>(i / n % n) / n);
  const Grid grid{{n, n, n, 1}, 3, 0.25, 1};
  const double k = 2 * 2 * pi / (n * grid.dx), sites = static_cast<double>(n * n * n);
  const double power = std::pow(grid.dx, 3) / sites * 2 * std::pow(3 * sites / 2, 2) / 62;
  const auto bins = spectrum(grid, {}, power_of(grid, f));
  EXPECT_NEAR(bins[1].k, k, 1e-13);
  EXPECT_NEAR(bins[1].power, power, 1e-11 * power);
  EXPECT_NEAR(bins[1].delta, std::pow(k, 3) / (2 * pi * pi) * power, 1e-11 * bins[1].delta);
}

TEST(Spectrum, PlaneWavesInFourDimensions) {
  // (0, 1, 0, 2) about the longest edge has |n| = sqrt(5), which 4 * 6 * 2 * 2 modes of a cube have
  const std::int64_t n = 8;
  const Grid grid{{n, n, n, n}, 4, 0.5, 1};
  std::vector<double> f(n * n * n * n);
  for (std::int64_t i = 0; i < n * n * n * n; ++i)
    f[i] = 3 * std::cos(2 * pi * static_cast<double>(i / n % n + 2 * (i / (n * n * n))) / n);
  SpectrumForm form;
  form.single = true;
  form.version = 2;
  const double sites = static_cast<double>(n * n * n * n), k = std::sqrt(5.0) * 2 * pi / 4;
  const double power = std::pow(grid.dx, 4) / sites * 2 * std::pow(3 * sites / 2, 2) / 48;
  double others = 0;
  bool met = false;
  for (const auto& bin : spectrum(grid, form, power_of(grid, f))) {
    if (std::abs(bin.k - k) > 1e-9) {
      others = std::max(others, bin.power);
      continue;
    }
    met = true;
    EXPECT_EQ(bin.modes, 48);
    EXPECT_NEAR(bin.power, power, 1e-11 * power);
    EXPECT_NEAR(bin.delta, std::pow(k, 4) / (8 * pi * pi) * power, 1e-11 * bin.delta);
  }
  EXPECT_TRUE(met);
  EXPECT_LT(others, 1e-20 * power);
}

program::Symbol seven_points() {
  program::Symbol s{{{0, 0, 0, 0}}, {-6}};
  for (int axis = 0; axis < 3; ++axis)
    for (const int step : {1, -1}) {
      s.offsets.push_back({});
      s.offsets.back()[axis] = step;
      s.weights.push_back(1);
    }
  return s;
}

TEST(Spectrum, EffectiveWaveNumber) {
  // seven points: k_eff^2 = sum_i (2 sin(k_i dx/2)/dx)^2
  const Grid grid{{8, 8, 8, 1}, 3, 0.5, 1};
  SpectrumForm form;
  form.laplacian = {seven_points()};
  form.version = 2;
  double sum = 0, modes = 0;
  for (int z = 0; z < 8; ++z)
    for_plane(grid, z, [&](std::int64_t, const Mode& m) {
      double k2 = 0;
      for (const double theta : m.theta) k2 += std::pow(2 * std::sin(theta / 2) / grid.dx, 2);
      EXPECT_NEAR(wave_number(grid, form, m), std::sqrt(k2), 1e-12);
      if (m.distance >= 1.5 && m.distance < 2.5) sum += m.weight * std::sqrt(k2), modes += m.weight;
    });
  EXPECT_NEAR(spectrum(grid, form, power_of(grid, noise(512)))[1].k, sum / modes, 1e-12);
}

TEST(Spectrum, CrossSpectrumByPolarisation) {
  // |f + g|^2 - |f|^2 - |g|^2 = 2 Re(f conj g)
  const Grid grid{{9, 12, 8, 1}, 3, 0.3, 2};
  const auto f = noise(grid.sites(), 1), g = noise(grid.sites(), 2);
  std::vector<double> both(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) both[i] = f[i] + g[i];
  const auto pf = spectrum(grid, {}, power_of(grid, f)), pg = spectrum(grid, {}, power_of(grid, g)),
             pb = spectrum(grid, {}, power_of(grid, both)),
             cross = spectrum(grid, {}, cross_power(grid, f, g));
  for (std::size_t l = 0; l < cross.size(); ++l)
    EXPECT_NEAR(2 * cross[l].power, pb[l].power - pf[l].power - pg[l].power, 1e-13);
}

TEST(Spectrum, SharedBins) {
  // one mode at |n| = sqrt(5): c = (1 - 0.236^2)^2 to bin 2, (1 - 0.764^2)^2 to bin 3
  const Grid grid{{8, 8, 8, 1}, 3, 1, 1};
  std::vector<double> f(512);
  for (int i = 0; i < 512; ++i) f[i] = std::cos(2 * pi * (2 * (i % 8) + i / 8 % 8) / 8.0);
  SpectrumForm form;
  form.two_bins = true;
  const auto bins = spectrum(grid, form, power_of(grid, f));
  const double off = std::sqrt(5.0) - 2, low = std::pow(1 - off * off, 2),
               high = std::pow(1 - (1 - off) * (1 - off), 2);
  const double total = 2 * std::pow(512 / 2.0, 2) / 512;  // dx^3/N^3 sum of |f~|^2
  EXPECT_NEAR(bins[1].power * bins[1].modes, low * total, 1e-9);
  EXPECT_NEAR(bins[2].power * bins[2].modes, high * total, 1e-9);
  EXPECT_LT(bins[0].power, 1e-20);
}

TEST(Occupation, VacuumHasOneHalfAndAClassicalWaveItsNumber) {
  // P_f = 1/(2 omega a^2), P_f' = omega/(2 a^4) gives 1/2 in every bin
  const Grid grid{{8, 8, 8, 1}, 3, 0.7, 1};
  const double a = 1.7, m2 = 0.4;
  std::vector<double> f(static_cast<std::size_t>(grid.box().modes())), rate(f.size());
  const double normal = std::pow(grid.dx, 3) / 512;
  for (int z = 0; z < 8; ++z)
    for_plane(grid, z, [&](std::int64_t i, const Mode& mode) {
      const double k = grid.k_ir() * mode.distance, omega = std::sqrt(k * k + a * a * m2);
      f[i] = 1 / (2 * omega * a * a * normal);
      rate[i] = omega / (2 * std::pow(a, 4) * normal);
    });
  for (const auto& bin : occupation(grid, {}, f, rate, a, m2)) EXPECT_NEAR(bin.number, 0.5, 1e-12);
  // a wave of energy E has E/omega quanta: f = A cos(kx), f' = 0: E = V A^2 omega^2/4 at a = 1
  std::vector<double> wave(512), still(512);
  for (int i = 0; i < 512; ++i) wave[i] = 0.3 * std::cos(2 * pi * (i % 8) / 8.0);
  const double k = grid.k_ir(), omega = std::sqrt(k * k + m2), volume = 512 * std::pow(0.7, 3);
  const auto bins = occupation(grid, {}, power_of(grid, wave), power_of(grid, still), 1, m2);
  EXPECT_NEAR(bins[0].number * bins[0].modes, volume * 0.09 / 4 * omega, 1e-10);
}

// ---- histograms -------------------------------------------------------------------------------

program::HistogramAxis axis(int bins) {
  program::HistogramAxis a;
  a.bins = bins;
  return a;
}

program::HistogramAxis axis(int bins, double low, double high) {
  program::HistogramAxis a = axis(bins);
  a.low = low, a.high = high;
  a.find_low = a.find_high = false;
  return a;
}

TEST(Histogram, CountsEverySiteOnce) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7, 8};
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(histogram({values}, {axis(4)}, 2).counts, (Counts{2, 2, 2, 3}));
  const auto part = histogram({values}, {axis(2, 2, 6)}, 3);
  EXPECT_EQ(part.counts, (Counts{2, 3}));
  EXPECT_EQ(part.below, 2);
  EXPECT_EQ(part.above, 2);
  EXPECT_EQ(histogram({std::vector<double>{5, 5}}, {axis(3)}, 1).counts[0], 2);
  const std::vector<double> strange{1, NAN, INFINITY, 3};
  const auto odd = histogram({strange}, {axis(2)}, 1);
  EXPECT_EQ(odd.invalid, 1);
  EXPECT_EQ(odd.above, 1);
  EXPECT_EQ(odd.counts, (Counts{1, 1}));
}

TEST(Histogram, LogarithmicBins) {
  const std::vector<double> values{1, 5, 10, 50, 100, 500, 1000, -3, 0};
  auto a = axis(3);
  a.log = true;
  const auto h = histogram({values}, {a}, 1);
  EXPECT_EQ(h.counts, (std::vector<std::int64_t>{2, 2, 3}));
  EXPECT_EQ(h.below, 2);
  EXPECT_NEAR(h.edges[0][1], 10, 1e-12);
  EXPECT_NEAR(h.density(1), 2 / (7 * 90.0), 1e-14);
}

TEST(Histogram, TwoDimensions) {
  const auto f = noise(5000, 1), g = noise(5000, 2);
  const auto h = histogram({f, g}, {axis(7, -2, 2), axis(5)}, 4);
  ASSERT_EQ(h.counts.size(), 35U);
  const auto [low, high] = std::minmax_element(g.begin(), g.end());
  std::vector<std::int64_t> counts(35);
  std::int64_t outside = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const int a = static_cast<int>(std::floor((f[i] + 2) * 7 / 4));
    const int b = std::min(4, static_cast<int>((g[i] - *low) * 5 / (*high - *low)));
    a<0 || a> 6 ? ++outside : ++counts[a * 5 + b];
  }
  EXPECT_EQ(h.counts, counts);
  EXPECT_EQ(h.above, outside);
}

// ---- profiles and correlators -----------------------------------------------------------------

TEST(Profile, MeanOverTheOtherAxes) {
  std::vector<double> f(4 * 3 * 5);
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) f[(z * 3 + y) * 4 + x] = 100 * z + 10 * (y - 1) + (x - 1.5);
  const Grid grid{{4, 3, 5, 1}, 3, 0.5, 1};
  fft::SharedTransform whole(grid.box(), 1);
  const auto along = [&](int axis) { return axis_profile(grid, axis_sums(grid, whole, f, axis)); };
  const auto along_z = along(2);
  ASSERT_EQ(along_z.size(), 5U);
  for (int z = 0; z < 5; ++z) {
    EXPECT_NEAR(along_z[z].mean, 100 * z, 1e-12);
    EXPECT_EQ(along_z[z].x, (z - 2) * 0.5);
    EXPECT_EQ(along_z[z].count, 12);
  }
  EXPECT_NEAR(along(1)[2].mean, 210, 1e-12);
  EXPECT_NEAR(along(0)[0].mean, 198.5, 1e-12);
}

TEST(Profile, ByDistance) {
  // a function of r alone keeps its values to the width of a bin
  const Grid grid{{9, 9, 9, 1}, 3, 0.5, 1};
  std::vector<double> r2(729);
  for (int i = 0; i < 729; ++i) {
    const int x = i % 9 - 4, y = i / 9 % 9 - 4, z = i / 81 - 4;
    r2[i] = 0.25 * (x * x + y * y + z * z);
  }
  fft::SharedTransform whole(grid.box(), 1);
  const auto points = radial_profile(grid, distance_sums(grid, whole, r2, From::Centre));
  EXPECT_EQ(points[0].mean, 0);
  EXPECT_EQ(points[1].count, 18);  // 6 faces and 12 edges lie within 1.5 spacings
  EXPECT_NEAR(points[1].mean, (6 * 0.25 + 12 * 0.5) / 18, 1e-14);
  double sites = 0;
  for (const auto& p : points) sites += p.count;
  EXPECT_EQ(sites, 729);
}

TEST(Correlator, AgainstDirectSums) {
  const Grid grid{{6, 5, 4, 1}, 3, 0.5, 2};
  const auto f = noise(120, 4), g = noise(120, 5);
  const double f0 = mean(f), g0 = mean(g);
  std::vector<fft::Complex> products(grid.box().modes());
  fft::SharedTransform whole(grid.box(), 2);
  add_product(whole, f, g, 1, products);
  const auto c = correlations(grid, whole, products);
  for (int r = 0; r < 120; ++r) {
    const int rx = r % 6, ry = r / 6 % 5, rz = r / 30;
    double sum = 0;
    for (int i = 0; i < 120; ++i) {
      const int x = (i % 6 + rx) % 6, y = (i / 6 % 5 + ry) % 5, z = (i / 30 + rz) % 4;
      sum += (f[i] - f0) * (g[(z * 5 + y) * 6 + x] - g0);
    }
    EXPECT_NEAR(c[r], sum / 120, 1e-13);
  }
  const auto along = axis_correlator(grid, on_axis(grid, whole, c, 0));
  ASSERT_EQ(along.size(), 4U);
  EXPECT_NEAR(along[1].mean, (c[1] + c[5]) / 2, 1e-15);
  EXPECT_EQ(along[3].count, 1);
  EXPECT_NEAR(axis_correlator(grid, on_axis(grid, whole, c, 2))[1].mean, (c[30] + c[90]) / 2,
              1e-15);
  const auto radial = radial_profile(grid, distance_sums(grid, whole, c, From::FirstSite));
  EXPECT_NEAR(radial[0].mean, c[0], 1e-15);
  EXPECT_EQ(radial[1].count, 18);
}

// ---- gravitational waves ----------------------------------------------------------------------

std::vector<program::Symbol> difference(bool central) {
  std::vector<program::Symbol> d(3);
  for (int axis = 0; axis < 3; ++axis) {
    std::array<int, 4> forth{}, back{};
    forth[axis] = 1;
    if (central) back[axis] = -1;
    d[axis] = {{forth, back}, {central ? 0.5 : 1.0, central ? -0.5 : -1.0}};
  }
  return d;
}

constexpr int kPlace[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

TEST(Transverse, TracelessTransverseAndIdempotent) {
  const Grid grid{{8, 6, 10, 1}, 3, 0.5, 2};
  for (const bool central : {true, false}) {
    const auto d = difference(central);
    std::array<std::vector<double>, 6> h;
    for (unsigned c = 0; c < 6; ++c) h[c] = noise(480, 10 + c);
    const auto before = h;
    transverse_traceless(grid, d, h);
    auto twice = h;
    transverse_traceless(grid, d, twice);
    double changed = 0;
    for (int i = 0; i < 480; ++i) {
      EXPECT_NEAR(h[0][i] + h[3][i] + h[5][i], 0, 1e-13);
      for (int c = 0; c < 6; ++c) changed = std::max(changed, std::abs(before[c][i] - h[c][i]));
      // a one-sided symbol is complex, and what is kept is the real symmetric part
      for (int c = 0; central && c < 6; ++c) EXPECT_NEAR(twice[c][i], h[c][i], 1e-13);
    }
    EXPECT_GT(changed, 0.1);
    if (!central) continue;
    for (int z = 0; z < 10; ++z)
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 8; ++x)
          for (int j = 0; j < 3; ++j) {
            const auto at = [&](int i, int step) {
              const int c = kPlace[i][j];
              const int xx = (x + (i == 0 ? step : 0) + 8) % 8,
                        yy = (y + (i == 1 ? step : 0) + 6) % 6,
                        zz = (z + (i == 2 ? step : 0) + 10) % 10;
              return h[c][(zz * 6 + yy) * 8 + xx];
            };
            double divergence = 0;
            for (int i = 0; i < 3; ++i) divergence += at(i, 1) - at(i, -1);
            EXPECT_NEAR(divergence, 0, 1e-12);
          }
  }
}

TEST(Transverse, ProjectorInFourierSpace) {
  // any symbol: D_i h_ij = 0 before the symmetric part is taken means |h|^2 = the CosmoLattice form
  const std::array<fft::Complex, 3> d{fft::Complex{0.3, 0.8}, {-0.2, 0.5}, {0.7, -0.1}};
  const Tensor v{fft::Complex{1, 2}, {0.5, -1}, {2, 0.3}, {-1, 1}, {0.7, 0.2}, {0.1, -0.4}};
  const Tensor h = project(v, d);
  EXPECT_LT(std::abs(h[0] + h[3] + h[5]), 1e-14);
  const std::array<fft::Complex, 3> k{fft::Complex{0, 0.3}, {0, -0.2}, {0, 0.7}};
  const Tensor g = project(v, k);
  for (int j = 0; j < 3; ++j) {
    fft::Complex sum = 0;
    for (int i = 0; i < 3; ++i) sum += k[i] * g[kPlace[i][j]];
    EXPECT_LT(std::abs(sum), 1e-14);
  }
  // pure gauge k_i w_j + k_j w_i and a pure trace leave nothing
  const double q[3] = {0.3, -0.2, 0.7}, w[3] = {1, 2, -0.5};
  Tensor gauge;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) gauge[kPlace[i][j]] = q[i] * w[j] + q[j] * w[i] + (i == j ? 4 : 0);
  for (const auto& c : project(gauge, k)) EXPECT_LT(std::abs(c), 1e-14);
}

}  // namespace
}  // namespace vphi::observe
