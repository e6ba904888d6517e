// Participants with weights that fluctuate, the text of docs/viscous.md: moments of the weights,
// the centre after it has been moved, and generalised means of two thicknesses against integrals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

class Participants : public ::testing::Test {
 protected:
  /// The text of the page after some changes, with more outputs.
  runtime::RunResult drawn(const std::vector<std::pair<std::string, std::string>>& changes,
                           const std::string& events) const {
    std::ifstream page(VPHI_SOURCE_DIR "/docs/viscous.md");
    std::string text{std::istreambuf_iterator<char>(page), {}};
    text.erase(0, text.find("model participants \""));
    text.erase(text.find("```"));
    for (const auto& [from, to] : changes)
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    text +=
        "at end: x_c = sum(of_one[k][0]*(of_one[k][2] + of_two[k][2]), k)/weights, "
        "y_c = sum(of_one[k][1]*(of_one[k][2] + of_two[k][2]), k)/weights, "
        "apart = sqrt(sum(of_one[k][0]*(two[k] - one[k]), k)^2 + "
        "sum(of_one[k][1]*(two[k] - one[k]), k)^2), w_1 = sum(of_one[k][2], k), "
        "w_2 = sum(of_two[k][2], k) -> \"participants.h5\"\n";
    testing::Simulation setup;
    setup.set = {{"event", events}};
    setup.out = folder_.path().string();
    return testing::run_text(text, setup);
  }

  /// Means of the two thicknesses on a lattice: integrals and centres.
  runtime::RunResult means(const std::string& sweep, const std::string& lattice) const {
    const auto thickness = [&](const char* of) {
      return fmt::format("file(\"{}:/snapshots/snapshot({})/00000001\", spread = 0.5 [fm])[event]",
                         (folder_ / "participants.h5").string(), of);
    };
    return testing::run_text(fmt::format(R"(model thickness "means of two thicknesses"
units fm
{}
lattice plane: {}, boundary = outflow
T_1 = {}
T_2 = {}
field a, g, h, f: real
a' = 0*a
g' = 0*g
h' = 0*h
f' = 0*f
init a = (T_1 + T_2)/2, g = sqrt(T_1*T_2), h = 2*T_1*T_2/(T_1 + T_2 + 1e-200 [fm^-2])
init f = ((T_1^0.5 + T_2^0.5)/2)^(1/0.5)
evolve euler, dt = 1, until = t > 0
precision real = f64
at end: A = total(a)*dx^2, G = total(g)*dx^2, H = total(h)*dx^2, F = total(f)*dx^2,
  x_c = mean(a*x)/mean(a), y_c = mean(a*y)/mean(a) -> "means.h5"
)",
                                         sweep, lattice, thickness("of_one"), thickness("of_two")),
                             {});
  }

  const testing::ScratchFolder folder_;
};

double sum_of(const runtime::RunResult& result, const std::string& name) {
  const auto& all = result.find(name)->values.back();
  return std::accumulate(all.begin(), all.end(), 0.0);
}

/// A gamma distribution with k = 2: mean 1 and variance 1/2.
TEST_F(Participants, WeightsHaveTheirMeanAndVariance) {
  const auto result = drawn({}, "0..799");
  const double n = sum_of(result, "N_part"), mean = sum_of(result, "weights") / n;
  const double square = sum_of(result, "squares") / n;
  EXPECT_GT(n, 1e5);
  EXPECT_NEAR(mean, 1, 4 * std::sqrt(0.5 / n));
  // <w^2> = 3/2, <w^4> = 15/2
  EXPECT_NEAR(square, 1.5, 4 * std::sqrt((7.5 - 2.25) / n));
  for (const char* name : {"x_c", "y_c"})
    for (const double centre : result.find(name)->values.back()) EXPECT_NEAR(centre, 0, 1e-13);
}

TEST_F(Participants, TheCentreOfTheEnergyIsTheOrigin) {
  const auto drawn_events = drawn({}, "0..9");
  if (!fs::exists(folder_ / "participants.h5")) GTEST_SKIP() << "this build writes no HDF5";
  const auto result = means("sweep event = 0..9", "60^2, length = 30 [fm]");
  for (const char* name : {"x_c", "y_c"})
    for (const double centre : result.find(name)->values.back()) EXPECT_NEAR(centre, 0, 1e-9);
  for (std::size_t event = 0; event < 10; ++event)
    EXPECT_NEAR(result.find("A")->values.back()[event],
                drawn_events.find("weights")->values.back()[event] / 2, 1e-9);
}

/// The integral of a mean of two Gaussians of weights w_1, w_2 at a distance d, along their line:
/// `of` makes the mean of two numbers, the other direction gives 1.
template <class Mean>
double integral(double w_1, double w_2, double d, const Mean& of) {
  constexpr double kWidth = 0.5, kStep = 1e-3;
  const auto gauss = [&](double x) {
    return std::exp(-x * x / (2 * kWidth * kWidth)) / std::sqrt(2 * M_PI) / kWidth;
  };
  double sum = 0;
  for (double x = -6; x < 6; x += kStep)
    sum += kStep * of(w_1 * gauss(x - d / 2), w_2 * gauss(x + d / 2));
  return sum;
}

TEST_F(Participants, MeansOfTwoNucleonsHaveTheirIntegrals) {
  const auto pair =
      drawn({{": 197", ": 1"}, {"6.38 [fm]", "0.4 [fm]"}, {"b = 7 [fm]", "b = 0.3 [fm]"}}, "0..3");
  if (!fs::exists(folder_ / "participants.h5")) GTEST_SKIP() << "this build writes no HDF5";
  const auto result = means("sweep event = 0..3", "160^2, length = 8 [fm]");
  for (std::size_t event = 0; event < 4; ++event) {
    const auto of = [&](const char* name) { return pair.find(name)->values.back()[event]; };
    const auto found = [&](const char* name) { return result.find(name)->values.back()[event]; };
    const double w_1 = of("w_1"), w_2 = of("w_2"), d = of("apart");
    EXPECT_EQ(of("N_part"), 2);
    EXPECT_NEAR(found("A"), (w_1 + w_2) / 2, 1e-9);
    const double geometric = std::sqrt(w_1 * w_2) * std::exp(-d * d / 2);  // 8 w^2 = 2 fm^2
    EXPECT_NEAR(found("G") / geometric, 1, 2e-3) << d;
    const double harmonic =
        integral(w_1, w_2, d, [](double a, double b) { return 2 * a * b / (a + b); });
    EXPECT_NEAR(found("H") / harmonic, 1, 3e-3) << d;
    const double half = integral(w_1, w_2, d, [](double a, double b) {
      return std::pow((std::sqrt(a) + std::sqrt(b)) / 2, 2);
    });
    EXPECT_NEAR(found("F") / half, 1, 2e-3) << d;
    EXPECT_LT(harmonic, geometric);
  }
}

/// Two nucleons of Gaussian thickness, width w, collide at a distance b with the probability
/// 1 - exp(-y exp(-b^2/(4 w^2))). The cross section sigma fixes y: the integral of that over u =
/// b^2/(4 w^2) is sigma/(4 pi w^2), sigma = 6.4 fm^2, w = 0.5 fm.
TEST(SmoothNucleons, TheirOverlapHasTheCrossSection) {
  const auto result = testing::run_text(R"(model nucleons "two nucleons of a smooth profile"
units fm
param sigma = 6.4 [fm^2], w = 0.5 [fm]
lattice line: 4, length = 1, boundary = periodic
section(y) = integral(1 - exp(-y*exp(-u)), u = 0..30, points = 64)
y_s = inverse(section(y), sigma/(4*pi*w^2), y = 1..10)
chance(b) = 1 - exp(-y_s*exp(-b^2/(4*w^2)))
field phi: real
phi' = 0*phi
evolve euler, dt = 1, until = t > 0
init phi = 0
precision real = f64
at end: y_s = mean(y_s + 0*phi), whole = mean(integral(2*pi*b*chance(b), b = 0..10) + 0*phi) -> "n.h5"
)",
                                        {});
  EXPECT_NEAR(testing::last(result, "y_s"), 4.2944222678, 1e-8);
  EXPECT_NEAR(testing::last(result, "whole"), 6.4, 1e-7);
}

}  // namespace
}  // namespace vphi
