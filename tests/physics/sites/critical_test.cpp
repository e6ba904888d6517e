// Transitions in two dimensions: energies of Ising spins on finite tori against Kaufman's sums
// (Phys. Rev. 76 (1949) 1232) and Onsager's integral, Binder's cumulant at the critical point, and
// the stiffness of angles at the transition of Kosterlitz and Thouless; the mass gap of unit
// vectors in space against a cluster algorithm of this file.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;

/// Of a series of the chain.
auto average(const runtime::RunResult& result, const std::string& name) {
  for (const auto& series : result.chain)
    if (series.name == name) return series.average;
  throw std::runtime_error("no series " + name);
}

const double kCritical = std::log(1 + std::sqrt(2.0)) / 2;

/// ln Z of n^2 spins with the coupling K: four products over n waves each.
double kaufman(double K, int n) {
  const auto gamma = [&](int l) {
    return l == 0 ? 2 * K + std::log(std::tanh(K))
                  : std::acosh(std::cosh(2 * K) / std::tanh(2 * K) - std::cos(l * pi / n));
  };
  std::array<double, 4> product{};
  double sign = 1;
  for (int r = 0; r < n; ++r)
    for (const int odd : {1, 0}) {
      const double x = n * gamma(2 * r + odd) / 2, size = std::abs(x);
      const auto at = static_cast<std::size_t>(odd ? 0 : 2);
      product[at] += size + std::log1p(std::exp(-2 * size));
      product[at + 1] += size + std::log1p(-std::exp(-2 * size));
      if (x < 0) sign = -sign;
    }
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    sum += (i == 3 ? sign : 1) * std::exp(product[i] - product[0]);
  return n * n * std::log(2 * std::sinh(2 * K)) / 2 + product[0] + std::log(sum / 2);
}

double energy(double K, int n) {
  const double h = 1e-5;
  return (kaufman(K - h, n) - kaufman(K + h, n)) / (2 * h * n * n);
}

double onsager(double K) {
  const double k = 2 * std::sinh(2 * K) / std::pow(std::cosh(2 * K), 2);
  const double part = 2 * std::pow(std::tanh(2 * K), 2) - 1;
  return -(1 + 2 / pi * part * std::comp_ellint_1(k)) / std::tanh(2 * K);
}

std::string ising_text(double K, int n, int sweeps) {
  return "model square \"Ising\"\nparam K = " + std::to_string(K) +
         "\nsweep chain = 1..32\nlattice torus: " + std::to_string(n) +
         "^2\nfield s: int, values = [-1, 1]\ne = -mean(sum(s*s@k, k))\nm = mean(s)\n"
         "action S = -K*sum(s*s@k, k)\nsample heatbath, sweeps = " +
         std::to_string(sweeps) + "\ninit s = 1\nevery 2 sweeps, after = sweep > " +
         std::to_string(sweeps / 5) + ": e, m2 = m^2, m4 = m^4 -> \"i.h5\"\n";
}

// On both sides of the transition and at it. 32^2 differs from the endless plane by 0.033 above it,
// where the correlation length is 42, by 0.019 at it and by 0.0001 below, where it is 9.
TEST(Critical, EnergiesOfIsingSpins) {
  EXPECT_NEAR(energy(kCritical, 8), -1.491589105542, 2e-8);
  EXPECT_NEAR(onsager(1 / 2.3), energy(1 / 2.3, 512), 1e-6);
  EXPECT_NEAR(onsager(1 / 2.2), energy(1 / 2.2, 128), 1e-6);
  for (const double temperature : {2.3, 2.269185, 2.2}) {
    const auto result = testing::run_text(ising_text(1 / temperature, 32, 12000), {});
    const auto e = average(result, "e");
    EXPECT_GT(e.error, 0);
    EXPECT_LT(e.error, 2.5e-3);
    EXPECT_NEAR(e.mean, energy(1 / temperature, 32), 4 * e.error) << temperature;
  }
}

// 0.61069 on an endless lattice (Kamieniarz and Blote, J. Phys. A 26 (1993) 201); sums over all
// states of 8^2 give 0.00235 more, which falls with the square of the extent.
TEST(Critical, BindersCumulant) {
  const auto result = testing::run_text(ising_text(kCritical, 16, 8000), {});
  const double m2 = average(result, "m2").mean, m4 = average(result, "m4").mean;
  EXPECT_NEAR(1 - m4 / (3 * m2 * m2), 0.61069 + 0.00235 / 4, 0.004);
}

double stiffness(int n, int sweeps) {
  const auto result = testing::run_text(
      "model angles \"XY\"\nparam K = 1.1199\nsweep chain = 1..32\nlattice torus: " +
          std::to_string(n) +
          "^2\nfield th: angle\nY = (stiffness(th, K)[x] + stiffness(th, K)[y])/2\n"
          "action S = -K*sum(cos(th@k - th), k)\n"
          "sample heatbath, sweeps = " +
          std::to_string(sweeps) +
          ", overrelax = 3\ninit th = 0\nevery 2 sweeps, after = sweep > 100: Y -> \"xy.h5\"\n",
      {});
  return average(result, "Y").mean;
}

// At the transition 1/(Y/T - 2/pi) grows by pi ln(2) per doubling of L: Y/T = 2/pi (1 + 1/(2 ln L +
// c)), of Weber and Minnhagen, Phys. Rev. B 37 (1988) 5986, whose limit is the jump.
TEST(Critical, TheStiffnessOfAnglesFallsToItsJump) {
  const double above8 = stiffness(8, 1600) - 2 / pi, above16 = stiffness(16, 800) - 2 / pi;
  EXPECT_NEAR(1 / above16 - 1 / above8, pi * std::log(2.0), 0.9);
}

// ---- unit vectors in space ----------------------------------------------------------------------

using Vector = std::array<double, 3>;

double inner(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Unit vectors on n^2 with the action -K sum n.n', by Wolff's single clusters (Phys. Rev. Lett. 62
/// (1989) 361): a mirror r, a cluster of sites whose neighbours join with 1 - exp(-2 K (r.a)(r.b)).
class Clusters {
 public:
  Clusters(int n, double K) : n_(n), K_(K), spins_(static_cast<std::size_t>(n * n), {0, 0, 1}) {}

  /// What the cluster says of |sum over the sites of n exp(i q x)|^2/sites, for q = 0 and the
  /// smallest q along x: 3/|C| |sum over C of (r.n) exp(i q x)|^2.
  std::array<double, 2> turn() {
    Vector r{normal_(draw_), normal_(draw_), normal_(draw_)};
    const double length = std::sqrt(inner(r, r));
    for (double& x : r) x /= length;
    std::array<double, 3> sums{};
    double size = 0;
    std::vector<int> open;
    const auto take = [&](int site) {
      const double along = inner(at(site), r), phase = 2 * pi * (site % n_) / n_;
      sums[0] += along, sums[1] += along * std::cos(phase), sums[2] += along * std::sin(phase);
      size += 1;
      for (std::size_t k = 0; k < 3; ++k)
        spins_[static_cast<std::size_t>(site)][k] -= 2 * along * r[k];
      open.push_back(site);
    };
    take(static_cast<int>(unit_(draw_) * n_ * n_));
    while (!open.empty()) {
      const int site = open.back();
      open.pop_back();
      for (const int next : neighbours(site)) {
        // the site is mirrored already
        const double bond = 2 * K_ * inner(r, at(site)) * inner(r, at(next));
        if (bond < 0 && unit_(draw_) >= std::exp(bond)) take(next);
      }
    }
    return {3 * sums[0] * sums[0] / size, 3 * (sums[1] * sums[1] + sums[2] * sums[2]) / size};
  }

 private:
  const Vector& at(int site) const { return spins_[static_cast<std::size_t>(site)]; }
  std::array<int, 4> neighbours(int site) const {
    const int x = site % n_, y = site / n_;
    return {y * n_ + (x + 1) % n_, y * n_ + (x + n_ - 1) % n_, (y + 1) % n_ * n_ + x,
            (y + n_ - 1) % n_ * n_ + x};
  }
  int n_;
  double K_;
  std::vector<Vector> spins_;
  std::mt19937_64 draw_{5};
  std::uniform_real_distribution<double> unit_;
  std::normal_distribution<double> normal_;
};

/// 1/xi of the second moment.
double mass(double all, double waves, int n) {
  return 2 * std::sin(pi / n) / std::sqrt(all / waves - 1);
}

struct Measured {
  double value = 0, error = 0;
};

/// Of blocks of single clusters.
Measured mass_by_clusters(double K, int n) {
  Clusters clusters(n, K);
  constexpr int kBlocks = 40, kTurns = 6000;
  double mean = 0, square = 0;
  for (int turn = 0; turn < 500; ++turn) clusters.turn();
  for (int block = 0; block < kBlocks; ++block) {
    std::array<double, 2> sum{};
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto now = clusters.turn();
      for (std::size_t i = 0; i < 2; ++i) sum[i] += now[i];
    }
    const double m = mass(sum[0], sum[1], n);
    mean += m / kBlocks, square += m * m / kBlocks;
  }
  return {mean, std::sqrt((square - mean * mean) / (kBlocks - 1))};
}

// Asymptotically m = (8/e) sqrt(32) exp(pi/2) of the lattice's Lambda (Hasenfratz, Maggiore and
// Niedermayer, Phys. Lett. B 245 (1990) 522), which holds at correlation lengths far beyond these.
TEST(Critical, TheMassOfUnitVectorsInThePlane) {
  const Measured reference = mass_by_clusters(1.2, 24);
  const auto result = testing::run_text(
      R"(model plane "unit vectors"
param K = 1.2
sweep chain = 1..32
lattice plane: 24^2
field n: vec(3), norm = 1
phase = 2*pi*index(x)/24
all = norm2(mean(n))*volume
waves = (norm2(mean(n*cos(phase))) + norm2(mean(n*sin(phase))))*volume
action S = -K*sum(dot(n, n@k), k)
sample heatbath, sweeps = 1500, overrelax = 2
init n ~ hot
every 2 sweeps, after = sweep > 100: all, waves -> "o3.h5"
)",
      {});
  const auto all = average(result, "all"), waves = average(result, "waves");
  const double m = mass(all.mean, waves.mean, 24);
  // of all alone and of waves alone, added up: more than the error, since they move together
  const double ratio = all.mean / waves.mean;
  const double error =
      m / 2 * ratio / (ratio - 1) * std::hypot(all.error / all.mean, waves.error / waves.mean);
  EXPECT_LT(reference.error, 0.006 * reference.value);
  EXPECT_LT(error, 0.02 * m);
  EXPECT_NEAR(m, reference.value, 4 * std::hypot(error, reference.error));
}

}  // namespace
}  // namespace vphi
