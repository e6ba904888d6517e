// Scales of the gradient flow: t0 where t^2 E passes a number, w0 where t d(t^2 E)/dt does
// (Luescher, JHEP 08 (2010) 071; Borsanyi et al., JHEP 09 (2012) 010), against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/physics/gauge/plain_links.hpp"
#include "tests/support/places.hpp"

namespace vphi {
namespace {

using namespace testing::flow;

double energy_of(const Box& box) {
  return 2 * box.n * (1 - box.mean_loop(false)) * box.dims * (box.dims - 1) / 2;
}

/// t^2 E by plain loops in small steps, and t d(t^2 E)/dt from differences of them.
struct Plain {
  static constexpr double kStep = 0.005;
  std::vector<double> scaled;  ///< at t = 0, kStep, ...
  double at(double t) const {  // a cubic through the four values around t
    const double place = t / kStep;
    const auto i = std::max<std::size_t>(1, static_cast<std::size_t>(place));
    const double s = place - static_cast<double>(i);
    const double a = scaled[i - 1], b = scaled[i], c = scaled[i + 1], d = scaled[i + 2];
    return -a * s * (s - 1) * (s - 2) / 6 + b * (s + 1) * (s - 1) * (s - 2) / 2 -
           c * (s + 1) * s * (s - 2) / 2 + d * (s + 1) * s * (s - 1) / 6;
  }
  double slope(double t) const {
    constexpr double h = 4 * kStep;
    return t * (8 * (at(t + h) - at(t - h)) - (at(t + 2 * h) - at(t - 2 * h))) / (12 * h);
  }
  /// Where f passes `level` from below first, after `from`.
  template <typename F>
  static double crossing(F f, double level, double from, double to) {
    for (double t = from; t < to; t += 0.01) {
      if (f(t + 0.01) < level) continue;
      double low = t, high = t + 0.01;
      for (int i = 0; i < 50; ++i) (f((low + high) / 2) < level ? low : high) = (low + high) / 2;
      return low;
    }
    return NAN;
  }
};

/// The model of a page that begins with this line.
std::string model_of_page(const std::string& page, const std::string& first) {
  std::ifstream file(VPHI_SOURCE_DIR "/docs/" + page);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto from = text.find(first);
  EXPECT_NE(from, std::string::npos) << first;
  return text.substr(from, text.find("```", from) - from);
}

// On rough links F = (C - adj(C))/8 has a trace, which is no part of the field strength.
TEST(FlowScales, ThePageHasChargeAndEnergyWithoutTheTrace) {
  if (!native()) GTEST_SKIP() << "no native device";
  const Box box = random_box(3, {2, 3, 2, 2}, 0.8, 11);
  const testing::ScratchFolder scratch;
  box.save(scratch / "start.ildg");
  std::string text = model_of_page("gauge.md", "model flow");
  const auto put = [&](const std::string& old, const std::string& fresh) {
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), fresh);
  };
  put("4^4", "2*3*2*2");
  put("init U ~ hot", from_file(scratch / "start.ildg"));
  put("until = t > 2", "until = t > 0.1");
  const auto result = testing::run_text(text, {});
  int seen = 0;
  for (const auto& series : result.series) {
    if (series.name != "mean(E)" && series.name != "Q") continue;
    const double expected = series.name == "Q" ? box.charge() : box.energy();
    ASSERT_FALSE(series.points.empty());
    EXPECT_EQ(series.points[0].first, 0);
    EXPECT_NEAR(series.points[0].second, expected, 1e-11 * std::fabs(box.energy())) << series.name;
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

TEST(FlowScales, T0AndW0) {
  if (!native()) GTEST_SKIP() << "no native device";
  const Box start = random_box(2, {3, 2, 4}, 0.55, 7);
  Plain plain;
  Box box = start;
  for (int i = 0; i <= 260; ++i) {
    const double t = i * Plain::kStep;
    plain.scaled.push_back(t * t * energy_of(box));
    box.luescher(Plain::kStep);
  }
  // on this small box the energy soon falls: nine tenths of what each of them reaches
  double most = 0, steepest = 0;
  for (double t = 0.05; t < 1.1; t += 0.01) {
    most = std::max(most, plain.at(t));
    steepest = std::max(steepest, plain.slope(t));
  }
  const auto scaled = [&](double t) { return plain.at(t); };
  const auto slope = [&](double t) { return plain.slope(t); };
  const double t0 = Plain::crossing(scaled, 0.9 * most, 0.05, 1.1);
  const double w2 = Plain::crossing(slope, 0.9 * steepest, 0.05, 1.1);
  ASSERT_GT(t0, 0.06);
  ASSERT_GT(w2, 0.06);
  const testing::ScratchFolder scratch;
  start.save(scratch / "start.ildg");
  const auto run = [&](double dt) {
    return testing::run_text(
        "model scales \"t0 and w0\"\nlattice grid: 3*2*4\ngauge U: SU(2)\n"
        "E = 2*sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\nU' = -d(E, U)\n" +
            from_file(scratch / "start.ildg") + "\nscaled = t^2*mean(E)\nt0 = first(t, scaled > " +
            testing::exact(0.9 * most) + ")\nw0 = first(sqrt(t), t*scaled' > " +
            testing::exact(0.9 * steepest) + ")\nevolve luscher3, dt = " + testing::exact(dt) +
            ", until = t >= 1\nevery 1 step: scaled, slope = t*scaled' -> \"s.csv\"\n"
            "at end: t0, w0 -> \"s.csv\"\n",
        {});
  };
  const auto fine = run(0.01), coarse = run(0.02);
  EXPECT_GT(most, 0.02);
  EXPECT_NEAR(testing::last(fine, "t0"), t0, 3e-4);
  EXPECT_NEAR(testing::last(fine, "w0"), std::sqrt(w2), 2e-4);
  // of second order in dt at a given time
  const auto off = [&](const runtime::RunResult& result) {
    for (const auto& [t, slope] : result.find("slope")->points)
      if (std::fabs(t - 0.6) < 1e-9) return slope - plain.slope(0.6);
    throw std::runtime_error("no row at t = 0.6");
  };
  EXPECT_LT(std::fabs(off(coarse)), 2e-3);
  EXPECT_NEAR(off(coarse) / off(fine), 4, 0.6);
}

}  // namespace
}  // namespace vphi
