// Markov chains of fields at sites by local updates against exact averages: sums over momenta,
// transfer matrices, sums over all states; single updates against their weights; devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/interpret.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr double kPi = std::numbers::pi;

bool has_native() { return testing::device("native") != nullptr; }

struct SiteModel {
  std::string field, action, lattice, sample, start, measured;
  int sweeps = 8000, skip = 200;
  std::string more = {};
  bool chaotic = false;  ///< overrelaxation multiplies rounding errors in each sweep

  std::string text() const {
    return "model chain \"sites\"\nlattice grid: " + lattice + "\n" + field +
           "\naction S = " + action + "\nsample " + sample +
           ", sweeps = " + std::to_string(sweeps) + "\ninit " + start + "\n" + more +
           "every 1 sweep, after = sweep > " + std::to_string(skip) + ": " + measured +
           " -> \"c.csv\"\n";
  }
};

/// Within four standard errors, which are below `most`.
void expect_average_of(const runtime::RunResult& result, const std::string& name, double exact,
                       double most) {
  for (const auto& series : result.chain) {
    if (series.name != name) continue;
    EXPECT_NEAR(series.average.mean, exact, 4 * series.average.error) << name;
    EXPECT_GT(series.average.error, 0) << name;
    EXPECT_LT(series.average.error, most) << name;
    return;
  }
  ADD_FAILURE() << "no series " << name;
}

// ---- numbers ------------------------------------------------------------------------------------

struct FreeField {
  const char* name;
  const char* field;
  const char* action;
  const char* sample;
  int components;
};

class FreeFields : public ::testing::TestWithParam<FreeField> {};

// <phi^2> and <phi phi@x> are sums over momenta, 1/(m^2 + sum of 2 - 2 cos p) each.
TEST_P(FreeFields, AreSumsOverMomenta) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const FreeField f = GetParam();
  const std::string square = f.components == 1 ? "mean(phi^2)" : "mean(norm2(phi))";
  const std::string next = f.components == 1 ? "mean(phi*phi@x)" : "mean(re(dot(phi, phi@x)))";
  const SiteModel model{f.field,  f.action,  "8*6",
                        f.sample, "phi = 0", "square = " + square + ", next = " + next,
                        12000};
  const auto result = testing::run_text(model.text(), {});
  double exact = 0, along = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 6; ++j) {
      const double p = 2 * kPi * i / 8, q = 2 * kPi * j / 6;
      const double g = 1 / (0.5 + 4 - 2 * std::cos(p) - 2 * std::cos(q)) / 48;
      exact += g;
      along += g * std::cos(p);
    }
  expect_average_of(result, "square", f.components * exact, 0.008);
  expect_average_of(result, "next", f.components * along, 0.008);
}

INSTANTIATE_TEST_SUITE_P(
    Actions, FreeFields,
    ::testing::Values(
        FreeField{"metropolis", "field phi: real", "norm2(grad(phi))/2 + 0.25*phi^2",
                  "metropolis, width = 1", 1},
        FreeField{"neighbours", "field phi: real",
                  "sum((phi@k - phi)^2/2, k = directions(+)) + 0.25*phi^2",
                  "metropolis, width = 1, hits = 3", 1},
        FreeField{"laplacian", "field phi: real", "-phi*lap(phi)/2 + phi^2/4",
                  "metropolis, width = 1", 1},
        FreeField{"overrelaxed", "field phi: real", "norm2(grad(phi))/2 + 0.25*phi^2",
                  "metropolis, width = 1, overrelax = 2", 1},
        FreeField{"drawn", "field phi: real", "norm2(grad(phi))/2 + 0.25*phi^2", "heatbath", 1},
        FreeField{"vectors", "field phi: vec(2)", "norm2(grad(phi))/2 + 0.25*norm2(phi)",
                  "metropolis, width = 0.8, overrelax = 1", 2},
        FreeField{"complex", "field phi: vec(1, complex)",
                  "sum(norm2(phi@k - phi), k = directions(+))/2 + 0.25*norm2(phi)",
                  "metropolis, width = 0.8", 2}),
    [](const auto& test) { return std::string(test.param.name); });

/// A ring with weights T(i, j) of neighbours: tr(T^(n-1) A)/tr(T^n).
struct RingOfSites {
  using Matrix = std::vector<std::vector<double>>;
  Matrix t;
  double average(int n, const Matrix& a) const {
    const std::size_t size = t.size();
    Matrix power = t;
    for (int step = 2; step < n; ++step) {
      Matrix next(size, std::vector<double>(size));
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < size; ++k)
          for (std::size_t j = 0; j < size; ++j) next[i][j] += power[i][k] * t[k][j];
      power = next;
    }
    double with = 0, without = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        with += power[i][j] * a[j][i];
        without += power[i][j] * t[j][i];
      }
    return with / without;
  }
};

TEST(SiteUpdates, QuarticFieldOnARing) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const SiteModel model{"field phi: real",
                        "(phi@x - phi)^2/2 - phi^2/2 + phi^4/2",
                        "6",
                        "metropolis, width = 1.2, hits = 2",
                        "phi = 0",
                        "square = mean(phi^2), next = mean(phi*phi@x)",
                        20000};
  const auto result = testing::run_text(model.text(), {});
  constexpr int kPoints = 100;
  constexpr double kEdge = 4;
  RingOfSites ring{RingOfSites::Matrix(kPoints, std::vector<double>(kPoints))};
  RingOfSites::Matrix square = ring.t, next = ring.t;
  const auto site = [](double u) { return -u * u / 2 + u * u * u * u / 2; };
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      const double u = kEdge * (2 * (i + 0.5) / kPoints - 1);
      const double v = kEdge * (2 * (j + 0.5) / kPoints - 1);
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      ring.t[a][b] = std::exp(-(u - v) * (u - v) / 2 - (site(u) + site(v)) / 2);
      square[a][b] = ring.t[a][b] * u * u;
      next[a][b] = ring.t[a][b] * u * v;
    }
  expect_average_of(result, "square", ring.average(6, square), 0.006);
  expect_average_of(result, "next", ring.average(6, next), 0.008);
}

// phi_1 dS/dphi_1 + ... is the number of components on average, whatever couples two fields.
TEST(SiteUpdates, TwoFieldsObeySchwingerAndDyson) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const SiteModel model{
      "field phi: vec(3), chi: real",
      "norm2(phi) + chi^2/2 + 0.3*chi^2*norm2(phi) - 0.4*sum(dot(phi, phi@k), k) + chi@x*chi/4",
      "4^2",
      "metropolis, width = 0.9",
      "phi = [0, 0, 0], chi = 0",
      "vector = mean(2*norm2(phi) + 0.6*chi^2*norm2(phi) - 0.8*sum(dot(phi, phi@k), k)), "
      "number = mean(chi^2 + 0.6*chi^2*norm2(phi) + chi@x*chi/2)",
      12000};
  const auto result = testing::run_text(model.text(), {});
  expect_average_of(result, "vector", 3, 0.02);
  expect_average_of(result, "number", 1, 0.02);
}

// ---- angles and unit vectors --------------------------------------------------------------------

class Updates : public ::testing::TestWithParam<const char*> {};

TEST_P(Updates, AnglesOnARing) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  constexpr double kCoupling = 1.5;
  const SiteModel model{"field phi: angle",
                        "-1.5*cos(phi@x - phi)",
                        "8",
                        GetParam(),
                        "phi ~ uniform(0, 2*pi)",
                        "c = mean(cos(phi@x - phi)), low = min(phi), high = max(phi)",
                        15000};
  const auto result = testing::run_text(model.text(), {});
  // Z = sum_n I_n(K)^sites
  double z = 0, sum = 0;
  for (int n = -40; n <= 40; ++n) {
    const auto bessel = [](int k) { return std::cyl_bessel_i(std::abs(k), kCoupling); };
    z += std::pow(bessel(n), 8);
    sum += std::pow(bessel(n), 7) * (bessel(n - 1) + bessel(n + 1)) / 2;
  }
  expect_average_of(result, "c", sum / z, 0.006);
  for (const auto& [step, low] : result.find("low")->points) EXPECT_GE(low, 0);
  for (const auto& [step, high] : result.find("high")->points) EXPECT_LE(high, 2 * kPi);
}

TEST(SiteStarts, AnglesAreHot) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(R"(model angles "Any angle"
lattice ring: 4096
field phi: angle
action S = -cos(phi@x - phi)
sample metropolis, width = 1, sweeps = 1
init phi ~ hot
every 1 sweep: low = min(phi), high = max(phi), c = mean(cos(phi)), s = mean(sin(phi)), c2 = mean(cos(2*phi)) -> "a.csv"
)",
                                        {});
  const auto start = [&](const char* name) { return result.find(name)->points.front().second; };
  EXPECT_GE(start("low"), 0);
  EXPECT_LT(start("low"), 0.02);
  EXPECT_LT(start("high"), 2 * kPi);
  EXPECT_GT(start("high"), 2 * kPi - 0.02);
  for (const char* name : {"c", "s", "c2"})  // of variance 1/2 at each site
    EXPECT_NEAR(start(name), 0, 4 * std::sqrt(0.5 / 4096)) << name;
}

// O(3): Z = sum_l (2 l + 1) i_l(K)^sites, and (2 l + 1) i_l' = l i_(l-1) + (l + 1) i_(l+1).
TEST_P(Updates, UnitVectorsOnARing) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  constexpr double kCoupling = 2;
  const SiteModel model{"field n: vec(3), norm = 1",
                        "-2*dot(n, n@x)",
                        "8",
                        GetParam(),
                        "n ~ hot",
                        "bond = mean(dot(n, n@x)), length = mean(norm2(n))",
                        15000};
  const auto result = testing::run_text(model.text(), {});
  const auto bessel = [](int l) {
    return std::sqrt(kPi / (2 * kCoupling)) * std::cyl_bessel_i(l + 0.5, kCoupling);
  };
  double z = 0, sum = 0;
  for (int l = 0; l <= 30; ++l) {
    z += (2 * l + 1) * std::pow(bessel(l), 8);
    const double below = l > 0 ? l * bessel(l - 1) : 0;
    sum += std::pow(bessel(l), 7) * (below + (l + 1) * bessel(l + 1));
  }
  expect_average_of(result, "bond", sum / z, 0.012);
  EXPECT_NEAR(testing::last(result, "length"), 1, 1e-13);
}

// Directions of the plane as vectors of length 2: the same as angles with four times the coupling.
TEST_P(Updates, VectorsOfAnotherLength) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const SiteModel model{"field n: vec(2), norm = 2",
                        "-0.375*dot(n, n@x)",
                        "8",
                        GetParam(),
                        "n = [1, 1]",
                        "c = mean(dot(n, n@x))/4, length = mean(norm2(n))",
                        15000};
  const auto result = testing::run_text(model.text(), {});
  double z = 0, sum = 0;
  for (int n = -40; n <= 40; ++n) {
    const auto bessel = [](int k) { return std::cyl_bessel_i(std::abs(k), 1.5); };
    z += std::pow(bessel(n), 8);
    sum += std::pow(bessel(n), 7) * (bessel(n - 1) + bessel(n + 1)) / 2;
  }
  expect_average_of(result, "c", sum / z, 0.006);
  EXPECT_NEAR(testing::last(result, "length"), 4, 1e-12);
}

std::string method_name(const ::testing::TestParamInfo<const char*>& test) {
  const std::string method = test.param;
  return method == "heatbath" ? method : test.index == 0 ? "plain" : "overrelaxed";
}

INSTANTIATE_TEST_SUITE_P(Methods, Updates,
                         ::testing::Values("metropolis, width = 1.5",
                                           "metropolis, width = 0.8, hits = 2, overrelax = 2",
                                           "heatbath"),
                         method_name);

// O(4): Z = sum_l (l + 1)^2 (2 I_(l+1)(K)/K)^sites. Components are drawn three after three.
TEST(SiteUpdates, HeatbathOfFourComponents) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  constexpr double kCoupling = 2.5;
  const SiteModel model{"field n: vec(4), norm = 1",
                        "-2.5*dot(n, n@x)",
                        "8",
                        "heatbath",
                        "n ~ hot",
                        "bond = mean(dot(n, n@x)), length = mean(norm2(n))",
                        15000};
  const auto result = testing::run_text(model.text(), {});
  const auto bessel = [](int n) { return std::cyl_bessel_i(n, kCoupling); };
  double z = 0, sum = 0;
  for (int l = 0; l <= 30; ++l) {
    const double value = 2 * bessel(l + 1) / kCoupling;
    const double slope = (bessel(l) + bessel(l + 2) - value) / kCoupling;
    z += (l + 1) * (l + 1) * std::pow(value, 8);
    sum += (l + 1) * (l + 1) * std::pow(value, 7) * slope;
  }
  expect_average_of(result, "bond", sum / z, 0.012);
  EXPECT_NEAR(testing::last(result, "length"), 1, 1e-13);
}

// With one proposal an angle sometimes stays; the distribution is the same.
TEST(SiteUpdates, AnyNumberOfTries) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const SiteModel model{"field phi: angle",
                        "-3*cos(phi@x - phi) - 0.5*sin(phi)",
                        "1024",
                        "heatbath, tries = 1",
                        "phi ~ hot",
                        "d = mean(3*(sin(phi - phi@-x) - sin(phi@x - phi))*sin(phi) - "
                        "0.5*cos(phi)*sin(phi) - cos(phi))",
                        600,
                        100};
  // <S' sin(phi) - cos(phi)> = 0, by parts
  expect_average_of(testing::run_text(model.text(), {}), "d", 0, 0.01);
}

// ---- discrete values: sums over all states ------------------------------------------------------

struct Discrete {
  const char* name;
  std::vector<int> extent;
  std::vector<int> values;
  const char* listed;  ///< `values = ...`
  const char* action;  ///< per site
  /// The same for one site; `at` gives the value at an offset.
  std::function<double(const std::function<int(int, int)>& at)> density;
  const char* sample;
  int colours = 2;
  double most = 0.02;
};

class AllStates : public ::testing::TestWithParam<Discrete> {};

TEST_P(AllStates, AreDrawnWithTheirWeights) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const Discrete& d = GetParam();
  const int nx = d.extent[0], ny = d.extent[1], sites = nx * ny;
  std::vector<int> state(static_cast<std::size_t>(sites)), s(state.size());
  double z = 0, action = 0, square = 0, absolute = 0;
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = d.values[static_cast<std::size_t>(state[i])];
    double total = 0, sum = 0;
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        total += d.density([&](int dx, int dy) {
          return s[static_cast<std::size_t>(((y + dy + ny) % ny) * nx + (x + dx + nx) % nx)];
        });
        sum += s[static_cast<std::size_t>(y * nx + x)];
      }
    const double weight = std::exp(-total);
    z += weight;
    action += weight * total / sites;
    square += weight * sum * sum / (sites * sites);
    absolute += weight * std::fabs(sum) / sites;
    more = false;
    for (int& i : state) {
      if (++i < static_cast<int>(d.values.size())) {
        more = true;
        break;
      }
      i = 0;
    }
  }
  const SiteModel model{
      std::string("field s: int, values = ") + d.listed,
      d.action,
      std::to_string(nx) + "*" + std::to_string(ny),
      d.sample,
      "s ~ hot",
      std::string("density = mean(") + d.action + "), square = mean(s)^2, absolute = abs(mean(s))",
      20000};
  const auto compilation = testing::compile_text(model.text(), {});
  bool found = false;
  for (const auto& update : std::get<physics::MarkovChain>(compilation.system->dynamics).updates) {
    EXPECT_EQ(update.modulus, d.colours);
    found = true;
  }
  EXPECT_TRUE(found);
  const auto result = testing::run_text(model.text(), {});
  expect_average_of(result, "density", action / z, d.most);
  expect_average_of(result, "square", square / z, d.most);
  expect_average_of(result, "absolute", absolute / z, d.most);
}

using At = std::function<int(int, int)>;

double ising(const At& s) { return -0.4 * s(0, 0) * (s(1, 0) + s(0, 1)); }
double potts(const At& s) { return -0.8 * ((s(0, 0) == s(1, 0)) + (s(0, 0) == s(0, 1))); }
double blume(const At& s) {
  return -0.6 * s(0, 0) * (s(1, 0) + s(0, 1)) + 0.7 * s(0, 0) * s(0, 0) - 0.1 * s(0, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, AllStates,
    ::testing::Values(
        Discrete{
            "ising_heatbath", {4, 4}, {-1, 1}, "[-1, 1]", "-0.4*s*(s@x + s@y)", ising, "heatbath"},
        Discrete{"ising_metropolis",
                 {4, 4},
                 {-1, 1},
                 "[1, -1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "metropolis"},
        // on two sites along an axis both neighbours are one site
        Discrete{"ising_narrow",
                 {4, 2},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "metropolis, hits = 2"},
        Discrete{"ising_in_a_field",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.3*sum(s*s@k, k) - 0.2*s",
                 [](const At& s) { return 0.75 * ising(s) - 0.2 * s(0, 0); },
                 "heatbath"},
        // diagonal neighbours and four spins at once: the compiler finds four colours
        Discrete{"ising_frustrated",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k) + 0.15*s*(s@(1,1) + s@(1,-1)) - 0.1*s*s@x*s@y*s@(1,1)",
                 [](const At& s) {
                   return ising(s) + 0.15 * s(0, 0) * (s(1, 1) + s(1, -1)) -
                          0.1 * s(0, 0) * s(1, 0) * s(0, 1) * s(1, 1);
                 },
                 "heatbath",
                 4},
        Discrete{"potts_heatbath",
                 {4, 2},
                 {0, 1, 2},
                 "0..2",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "heatbath",
                 2,
                 0.04},
        Discrete{"potts_metropolis",
                 {4, 2},
                 {1, 2, 3, 4},
                 "1..4",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "metropolis",
                 2,
                 0.12},
        Discrete{"clock",
                 {4, 2},
                 {0, 1, 2, 3},
                 "0..3",
                 "-0.8*sum(cos(2*pi*(s@k - s)/4), k)",
                 [](const At& s) {
                   return -0.8 * (std::cos(kPi * (s(1, 0) - s(0, 0)) / 2) +
                                  std::cos(kPi * (s(0, 1) - s(0, 0)) / 2));
                 },
                 "heatbath",
                 2,
                 0.12},
        Discrete{"ising_reordered",
                 {4, 4},
                 {-1, 1},
                 "[-1, 1]",
                 "-0.4*sum(s*s@k, k)",
                 ising,
                 "heatbath, overrelax = 2"},
        Discrete{"potts_reordered",
                 {4, 2},
                 {1, 2, 3, 4},
                 "1..4",
                 "-0.8*sum(s == s@k, k)",
                 potts,
                 "metropolis, overrelax = 2",
                 2,
                 0.12},
        Discrete{"clock_reordered",
                 {4, 2},
                 {0, 1, 2, 3, 4},
                 "0..4",
                 "-0.8*sum(cos(2*pi*(s@k - s)/5), k) - 0.3*cos(2*pi*s/5 + 0.4)",
                 [](const At& s) {
                   const double step = 2 * kPi / 5;
                   return -0.8 * (std::cos(step * (s(1, 0) - s(0, 0))) +
                                  std::cos(step * (s(0, 1) - s(0, 0)))) -
                          0.3 * std::cos(step * s(0, 0) + 0.4);
                 },
                 "metropolis, overrelax = 2",
                 2,
                 0.12},
        Discrete{"blume_reordered",
                 {4, 2},
                 {-1, 0, 1},
                 "[-1, 0, 1]",
                 "-0.6*sum(s*s@k, k) + 0.7*s^2 - 0.1*s",
                 blume,
                 "heatbath, overrelax = 1"},
        Discrete{"blume_capel",
                 {4, 2},
                 {-1, 0, 1},
                 "[-1, 0, 1]",
                 "-0.6*sum(s*s@k, k) + 0.7*s^2 - 0.1*s",
                 blume,
                 "heatbath"},
        Discrete{"uneven_values",
                 {4, 2},
                 {-1, 0, 3},
                 "[3, -1, 0]",
                 "-0.06*sum(s*s@k, k) + 0.07*s^2 - 0.01*s",
                 [](const At& s) { return blume(s) / 10; },
                 "metropolis, hits = 2",
                 2,
                 0.06}),
    [](const auto& test) { return std::string(test.param.name); });

// With the sign changed across the edges along x; by sums over all states.
TEST(SiteUpdates, AntiperiodicSpinsAreDrawnWithTheirWeights) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  for (const int nx : {4, 2}) {
    SiteModel model{"field s: int, values = [-1, 1], boundary(x) = antiperiodic",
                    "-0.5*sum(s*s@k, k)",
                    std::to_string(nx) + "*4",
                    "heatbath",
                    "s ~ hot",
                    "along = mean(s*s@x), across = mean(s*s@y)",
                    20000};
    double z = 0, along = 0, across = 0;
    for (unsigned state = 0; state < (1u << (4 * nx)); ++state) {
      int x_bonds = 0, y_bonds = 0;
      const auto s = [&](int x, int y) {
        const int sign = x == nx ? -1 : 1;
        return sign * ((state >> ((y % 4) * nx + x % nx)) & 1u ? 1 : -1);
      };
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < nx; ++x) {
          x_bonds += s(x, y) * s(x + 1, y);
          y_bonds += s(x, y) * s(x, y + 1);
        }
      const double weight = std::exp(0.5 * (x_bonds + y_bonds));
      z += weight;
      along += weight * x_bonds / (4 * nx);
      across += weight * y_bonds / (4 * nx);
    }
    const auto result = testing::run_text(model.text(), {});
    if (nx == 4) expect_average_of(result, "along", along / z, 0.02);
    expect_average_of(result, "across", across / z, 0.02);
  }
}

// Couplings that are drawn once stay as they are: a glass on a ring, s(x) s(x+1) = tanh(J(x)) but
// for the ring's closing, which is below 1e-4 on average.
TEST(SiteUpdates, CouplingsThatAreDrawnOnceStay) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  SiteModel model{"field s: int, values = [-1, 1]",
                  "-J*s*s@x",
                  "64",
                  "heatbath",
                  "s ~ hot",
                  "bond = mean(s*s@x - tanh(J)), size = mean(tanh(J)^2), unlike = mean(J*J@x)",
                  8000};
  model.more = "J ~ normal(0, 0.6)\n";
  const auto result = testing::run_text(model.text(), {});
  expect_average_of(result, "bond", 0, 0.006);
  EXPECT_GT(testing::last(result, "size"), 0.1);
  EXPECT_EQ(result.find("size")->points.front().second, testing::last(result, "size"));
  EXPECT_NE(testing::last(result, "unlike"), testing::last(result, "size"));
}

// ---- colours ---------------------------------------------------------------------------------

// Sites of one colour are updated at once: no new value may be made of another site of its colour.
TEST(SiteUpdates, NoUpdateReadsAnotherSiteOfItsColour) {
  struct Case {
    const char *field, *action, *lattice;
    int colours;
  };
  const Case cases[] = {{"field s: int, values = [-1, 1]", "-s*(s@x + s@y + s@z)", "4*6*2", 2},
                        {"field s: int, values = [-1, 1]", "-s*s@(2,0) + 0.3*s*s@y", "8*4", 4},
                        {"field s: int, values = [-1, 1]", "-s*s@x*s@y*s@(1,1)", "8*8", 4},
                        {"field s: int, values = [-1, 1]", "-s*(s@(1,1) + s@(1,-1))", "8*8", 2},
                        {"field s: int, values = [-1, 1]", "-0.4*s", "5*3", 1}};
  for (const Case& c : cases) {
    const SiteModel model{c.field, c.action, c.lattice, "heatbath", "s = 1", "m = mean(s)", 2};
    const Compilation compilation = testing::compile_text(model.text(), {});
    const auto& chain = std::get<physics::MarkovChain>(compilation.system->dynamics);
    ASSERT_EQ(chain.updates.size(), 1u);
    const physics::Update& update = chain.updates[0];
    EXPECT_EQ(update.modulus, c.colours) << c.action;
    for (const algebra::Expr read : algebra::reads(update.values.at(0).second)) {
      ASSERT_EQ(read.op(), algebra::Op::Load);
      int colour = 0;
      for (std::size_t k = 0; k < 4; ++k) colour += update.weights[k] * read->offset.d[k];
      EXPECT_NE(colour % update.modulus, 0) << c.action;
    }
  }
}

// ---- single updates -----------------------------------------------------------------------------

/// One of the two colours of a chain on 32^2, updated by itself among neighbours that are all 1.
class OneColour {
 public:
  static constexpr int kRounds = 12;

  /// `update`: how the names of the launches begin that make the update, one for each colour.
  OneColour(const SiteModel& model, const std::string& update)
      : compilation_(testing::compile_text(model.text(), {})), run_(*compilation_.plan) {
    run_.start();
    for (const program::Launch& launch : compilation_.program->launches(0)) {
      const auto& kernel = compilation_.program->kernels[static_cast<std::size_t>(launch.kernel)];
      if (kernel.name.starts_with(update)) updates_.push_back(launch);
    }
    EXPECT_EQ(updates_.size(), 2u);
  }

  /// What sites of the first colour hold that have had the value `before`, of all rounds.
  std::vector<double> after(double before) {
    std::vector<double> result;
    auto& values = run_.buffer(compilation_.plan->buffer_of.at(0));
    const auto colour = [](std::size_t site) { return (site % 32 + site / 32) % 2; };
    for (int round = 0; round < kRounds && updates_.size() == 2; ++round) {
      run_.step();  // other random numbers
      for (std::size_t site = 0; site < values.size(); ++site)
        values[site] = colour(site) == 0 ? before : 1;
      run_.launch({updates_[0]});
      for (std::size_t site = 0; site < values.size(); ++site) {
        if (colour(site) == 0) {
          result.push_back(values[site]);
        } else {
          EXPECT_EQ(values[site], 1);  // a neighbour stays
        }
      }
      run_.launch({updates_[1]});  // the next launch is of the first colour again
    }
    return result;
  }

 private:
  Compilation compilation_;
  kernel::Interpreter run_;
  std::vector<program::Launch> updates_;
};

// One launch updates the sites of one colour among neighbours that stay: of spins that are all in
// one state the share that leaves it is known, and so is that of the way back.
TEST(SiteUpdates, OneUpdateIsInDetailedBalance) {
  struct Case {
    const char* sample;
    std::function<double(double)> leaves;  ///< probability for this change of S
  };
  const Case cases[] = {
      {"metropolis", [](double change) { return std::min(1.0, std::exp(-change)); }},
      {"heatbath", [](double change) { return 1 / (1 + std::exp(change)); }}};
  constexpr double kCoupling = 0.15;
  for (const Case& c : cases) {
    const SiteModel model{"field s: int, values = [-1, 1]",
                          "-0.15*sum(s*s@k, k)",
                          "32^2",
                          c.sample,
                          "s = 1",
                          "m = mean(s)",
                          10};
    OneColour spins(model, c.sample);
    for (const double before : {1.0, -1.0}) {  // of the sites that are updated; others are 1
      const std::vector<double> after = spins.after(before);
      ASSERT_FALSE(after.empty());
      const auto all = static_cast<double>(after.size());
      const auto left =
          static_cast<double>(std::ranges::count_if(after, [&](double s) { return s != before; }));
      const double share = c.leaves(8 * kCoupling * before);
      EXPECT_NEAR(left / all, share, 4 * std::sqrt(share * (1 - share) / all) + 1e-12)
          << c.sample << " from " << before;
    }
  }
}

// The flow from each value to each other one is that of the way back, and every value is left:
// most often for the one that has nearly its action.
TEST(SiteUpdates, ReorderedValuesAreInDetailedBalance) {
  const SiteModel model{"field s: int, values = 0..5",
                        "-0.4*sum(cos(2*pi*(s@k - s)/6), k) - 0.2*cos(2*pi*s/6 - 1.2)",
                        "32^2",
                        "heatbath, overrelax = 1",
                        "s = 1",
                        "m = mean(s)",
                        10};
  OneColour values(model, "reorder");
  const auto weight = [](int k) {  // beside four neighbours with the value 1
    return std::exp(1.6 * std::cos(kPi * (1 - k) / 3) + 0.2 * std::cos(kPi * k / 3 - 1.2));
  };
  std::array<std::array<double, 6>, 6> share{};
  double all = 0;
  for (int from = 0; from < 6; ++from) {
    const std::vector<double> after = values.after(from);
    ASSERT_FALSE(after.empty());
    all = static_cast<double>(after.size());
    for (const double to : after)
      share[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] += 1;
  }
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_LT(share[i][i], 0.9 * all) << i << " stays";
    for (std::size_t j = 0; j < i; ++j) {
      const double there = share[i][j] / all, back = share[j][i] / all;
      const double wi = weight(static_cast<int>(i)), wj = weight(static_cast<int>(j));
      const double error = std::hypot(wi * std::sqrt(there / all), wj * std::sqrt(back / all));
      EXPECT_NEAR(wi * there, wj * back, 4 * error + 1e-12) << i << " and " << j;
    }
  }
  // 1 + n and 1 - n are the mirrors about the neighbours; the field tells them apart
  EXPECT_GT(share[0][2], 0.3 * all);
  EXPECT_GT(share[3][5], 0.3 * all);
}

// `accept` is the share of the values that a sweep of one proposal each has changed.
TEST(SiteUpdates, AcceptIsTheShareThatMoved) {
  const SiteModel model{"field phi: real",
                        "phi^2/2 + norm2(grad(phi))/2",
                        "8*6",
                        "metropolis, width = 1.5",
                        "phi ~ normal",
                        "accept",
                        10};
  const Compilation compilation = testing::compile_text(model.text(), {});
  kernel::Interpreter run(*compilation.plan);
  run.start();
  const auto& field = run.buffer(compilation.plan->buffer_of.at(0));
  for (int sweep = 0; sweep < 8; ++sweep) {
    const auto before = field;
    run.step();
    double moved = 0;
    for (std::size_t site = 0; site < field.size(); ++site)
      moved += field[site] != before[site] ? 1 : 0;
    EXPECT_GT(moved, 0);
    EXPECT_NEAR(run.scalar("accept"), moved / 48, 1e-14);
  }
}

// ---- devices, precision, ensembles --------------------------------------------------------------

TEST(SiteUpdates, DevicesDrawTheSameChain) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  const SiteModel models[] = {
      {"field phi: real", "norm2(grad(phi))/2 + phi^4/4", "16*8", "metropolis, width = 1",
       "phi = 0", "a = mean(phi^2), b = accept", 20, 0},
      {"field th: angle",
       "-sum(cos(th@k - th), k)",
       "16*8",
       "metropolis, width = 1, hits = 2, overrelax = 1",
       "th ~ uniform(0, 2*pi)",
       "a = mean(cos(th)), b = accept",
       20,
       0,
       {},
       true},
      {"field n: vec(3), norm = 1",
       "-sum(dot(n, n@k), k)",
       "16*8",
       "metropolis, width = 1, overrelax = 2",
       "n ~ hot",
       "a = mean(n[0]*n[1]), b = accept",
       20,
       0,
       {},
       true},
      {"field s: int, values = [-1, 1]", "-0.4*sum(s*s@k, k)", "16*8", "heatbath", "s ~ hot",
       "a = mean(s), b = mean(s*s@x)", 20, 0},
      {"field s: int, values = 0..4", "-sum(s == s@k, k)", "16*8", "metropolis", "s ~ hot",
       "a = mean(s), b = accept", 20, 0}};
  for (const SiteModel& model : models) {
    testing::Simulation opencl;
    opencl.device = "opencl";
    const auto here = testing::run_text(model.text(), {});
    const auto there = testing::run_text(model.text(), opencl);
    for (const char* name : {"a", "b"}) {
      const auto& points = here.find(name)->points;
      ASSERT_GE(points.size(), 20u);
      for (std::size_t i = 0; i < (model.chaotic ? 5 : points.size()); ++i)
        EXPECT_NEAR(points[i].second, there.find(name)->points.at(i).second, 1e-11)
            << model.field << " " << name << " " << i;
    }
    EXPECT_NE(here.find("a")->points.front().second, here.find("a")->points.back().second);
  }
}

TEST(SiteUpdates, TheInterpreterDrawsTheSameChain) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  const SiteModel models[] = {
      {"field phi: real", "norm2(grad(phi))/2 + phi^4/4", "8*6", "metropolis, width = 1", "phi = 0",
       "mean(phi)", 6, 0},
      {"field n: vec(3), norm = 1", "-sum(dot(n, n@k), k)", "8*6",
       "metropolis, width = 1, overrelax = 1", "n ~ hot", "mean(n[0])", 4, 0},
      {"field s: int, values = 0..4", "-sum(s == s@k, k)", "8*6", "heatbath", "s ~ hot", "mean(s)",
       10, 0}};
  for (const SiteModel& model : models) {
    testing::Simulation setup;
    setup.keep_state = true;
    const Compilation compilation = testing::compile_text(model.text(), setup);
    const auto native = testing::run_program(*compilation.program, setup);
    kernel::Interpreter run(*compilation.plan);
    run.start();
    const auto first = run.buffer(compilation.plan->buffer_of.at(0));
    for (int sweep = 0; sweep < model.sweeps; ++sweep) run.step();
    ASSERT_GE(native.state.size(), 1u);
    const auto& field = run.buffer(compilation.plan->buffer_of.at(0));
    ASSERT_EQ(native.state[0].size(), field.size());
    EXPECT_NE(first, field);
    for (std::size_t site = 0; site < field.size(); ++site)
      EXPECT_NEAR(native.state[0][site], field[site], 1e-11) << model.field << " " << site;
  }
}

// Many chains in one launch, in single precision.
TEST(SiteUpdates, ChainsOfAnEnsembleInSinglePrecision) {
  if (!has_native()) GTEST_SKIP() << "no native device";
  SiteModel model{"field s: int, values = [-1, 1]",
                  "-0.4*sum(s*s@k, k)",
                  "4^2",
                  "heatbath",
                  "s ~ hot",
                  "e = mean(sum(s*s@k, k))",
                  2000};
  model.more = "sweep chain = 1..8\nprecision real = f32\n";
  const auto result = testing::run_text(model.text(), {});
  double z = 0, bonds = 0;
  for (unsigned state = 0; state < (1u << 16); ++state) {
    int sum = 0;
    const auto s = [&](unsigned x, unsigned y) {
      return (state >> ((y % 4) * 4 + x % 4)) & 1u ? 1 : -1;
    };
    for (unsigned y = 0; y < 4; ++y)
      for (unsigned x = 0; x < 4; ++x) sum += s(x, y) * (s(x + 1, y) + s(x, y + 1));
    z += std::exp(0.4 * sum);
    bonds += std::exp(0.4 * sum) * sum / 16;
  }
  expect_average_of(result, "e", bonds / z, 0.02);
}

}  // namespace
}  // namespace vphi
