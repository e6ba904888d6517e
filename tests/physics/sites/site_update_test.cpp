// Markov chains of fields at sites by local updates against exact averages: sums over momenta,
// transfer matrices; single updates against their weights; devices. Discrete values:
// discrete_sites_test.cpp.
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
#include "tests/physics/sites/site_model.hpp"

namespace vphi {
namespace {

using testing::expect_average_of;
using testing::has_native;
using testing::SiteModel;

constexpr double kPi = std::numbers::pi;

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
