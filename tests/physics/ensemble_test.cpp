// Sweeps and ensembles: exact solutions instance by instance, and a sweep against single runs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#if __has_include(<hdf5/serial/hdf5.h>)
#include <hdf5/serial/hdf5.h>
#else
#include <hdf5.h>
#endif

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;
using testing::Simulation;

const runtime::Series& series(const runtime::RunResult& r, const std::string& name) {
  const auto* found = r.find(name);
  if (!found) throw std::runtime_error("no series " + name);
  return *found;
}

// x'' = -w^2 x by leapfrog from (1, 0) is cos(Omega n dt) with sin(Omega dt/2) = w dt/2, exactly.
TEST(Ensemble, OscillatorsFollowTheDiscreteSolution) {
  const auto r = run_text(R"(model oscillator "frequencies side by side"
sweep w = linspace(0.5, 2, 7)
var x: real
x'' = -w^2*x
init x = 1, x' = 0
evolve leapfrog, dt = 0.1, until = t > 20
every 50 steps: x -> "o.h5"
)",
                          {});
  ASSERT_EQ(r.axes.size(), 1u);
  EXPECT_FALSE(r.axes[0].ensemble);
  const auto& x = series(r, "x");
  ASSERT_EQ(x.axes, std::vector<int>{0});
  ASSERT_GE(x.steps.size(), 4u);
  for (std::size_t row = 0; row < x.steps.size(); ++row) {
    ASSERT_EQ(x.values[row].size(), 7u);
    for (std::size_t i = 0; i < 7; ++i) {
      const double w = r.axes[0].values[i], omega = 2 / 0.1 * std::asin(w * 0.1 / 2);
      EXPECT_NEAR(x.values[row][i], std::cos(omega * 0.1 * static_cast<double>(x.steps[row])),
                  1e-11)
          << "w = " << w << ", step " << x.steps[row];
    }
  }
}

// Quarter period of a pendulum: K(sin(amplitude/2)).
TEST(Ensemble, PendulumAgainstTheEllipticIntegral) {
  const auto r = testing::run_file(testing::shipped("teaching/pendulum"), {});
  EXPECT_TRUE(r.all_expected());
  ASSERT_EQ(r.plots.size(), 1u);
  const runtime::Plot& plot = r.plots[0];
  ASSERT_EQ(plot.x.size(), 30u);
  for (std::size_t i = 0; i < plot.x.size(); ++i)
    EXPECT_NEAR(plot.y[i] / (4 * std::comp_ellint_1(std::sin(plot.x[i] / 2))), 1, 1e-6)
        << plot.x[i];
}

// mean(x^2) over every step after the start is forgotten, against the resonance curve. What is left
// is the end of the window within a period: below 1/(2 w T) = 0.2 %.
TEST(Ensemble, ResonanceCurve) {
  const auto r = testing::run_file(testing::shipped("teaching/resonance"), {});
  EXPECT_TRUE(r.all_expected());
  ASSERT_EQ(r.plots.size(), 1u);
  for (std::size_t i = 0; i < r.plots[0].x.size(); ++i) {
    const double w = r.plots[0].x[i];
    const double exact = 0.5 / (std::pow(1 - w * w, 2) + std::pow(0.2 * w, 2));
    EXPECT_NEAR(r.plots[0].y[i] / exact, 1, 5e-3) << "w = " << w;
  }
}

const char* const kFields = R"(model fields "a small lattice in a sweep"
sweep m = [0.5, 1, 1.5]
sweep draw = 1..4
lattice ring: 32, length = 8
field phi: real
potential V = m^2*phi^2/2 + phi^4/4
init phi ~ 0.3*m + vacuum, phi' ~ normal(0, m)
evolve leapfrog, dt = 0.05, until = t > 2
hit = first(t, mean(phi) < 0)
s = mean(phi)
every 10 steps: s, var(phi), mean(s, over = draw), var(s, over = draw),
  mean(s, over = time), mean(s, over = [draw, time]) -> "f.h5"
at end: hit, max(s, over = draw) -> "f.h5"
)";

// A value of the sweep alone: the same random numbers, the same physics, to rounding.
TEST(Ensemble, OneInstanceIsTheSingleRun) {
  const auto all = run_text(kFields, {});
  ASSERT_EQ(all.axes.size(), 2u);
  EXPECT_FALSE(all.axes[0].ensemble);
  EXPECT_TRUE(all.axes[1].ensemble);
  const auto& s = series(all, "s");
  const auto& v = series(all, "var(phi)");
  ASSERT_EQ(s.axes, (std::vector<int>{0, 1}));
  Simulation one;
  one.set = {{"m", "1"}, {"draw", "3"}};
  const auto single = run_text(kFields, one);
  EXPECT_TRUE(single.axes.empty());
  const auto& alone = series(single, "s");
  ASSERT_EQ(alone.points.size(), s.values.size());
  const std::size_t instance = 1 * 4 + 2;
  for (std::size_t row = 0; row < s.values.size(); ++row) {
    EXPECT_NEAR(s.values[row][instance], alone.points[row].second, 1e-12);
    EXPECT_NEAR(v.values[row][instance], series(single, "var(phi)").points[row].second, 1e-12);
  }
  // draws differ; another draw of the same mass is another state
  EXPECT_GT(std::abs(s.values.back()[instance] - s.values.back()[instance + 1]), 1e-3);
}

TEST(Ensemble, AveragesAreThoseOfTheInstances) {
  const auto r = run_text(kFields, {});
  const auto& s = series(r, "s");
  const auto& mean = series(r, "mean(s, over = draw)");
  const auto& variance = series(r, "var(s, over = draw)");
  const auto& largest = series(r, "max(s, over = draw)");
  ASSERT_EQ(mean.axes, std::vector<int>{0});
  for (std::size_t row = 0; row < s.values.size(); ++row)
    for (std::size_t m = 0; m < 3; ++m) {
      double sum = 0, square = 0, most = -1e30;
      for (std::size_t i = 0; i < 4; ++i) {
        const double x = s.values[row][4 * m + i];
        sum += x, most = std::max(most, x);
      }
      for (std::size_t i = 0; i < 4; ++i) square += std::pow(s.values[row][4 * m + i] - sum / 4, 2);
      EXPECT_NEAR(mean.values[row][m], sum / 4, 1e-14);
      EXPECT_NEAR(mean.errors[row][m], std::sqrt(square / 3 / 4), 1e-14);
      EXPECT_NEAR(variance.values[row][m], square / 4, 1e-14);
      if (row + 1 == s.values.size()) {
        EXPECT_EQ(largest.values[0][m], most);
      }
    }
}

// Averages over every step since the last output, against a run that writes every step.
TEST(Ensemble, TimeAveragesCountEveryStep) {
  const auto r = run_text(kFields, {});
  std::string text = kFields;
  const std::size_t clause = text.find("every 10 steps");
  text.replace(clause, text.find(" -> ", clause) - clause, "every 1 step: s");
  const auto fine = run_text(text, {});
  const auto& window = series(r, "mean(s, over = time)");
  const auto& both = series(r, "mean(s, over = [draw, time])");
  const auto& s = series(fine, "s");
  std::size_t from = 0;  // the start counts as the first window
  for (std::size_t row = 0; row < window.steps.size(); ++row) {
    const auto to = static_cast<std::size_t>(window.steps[row]);
    for (std::size_t m = 0; m < 3; ++m) {
      double over_draws = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (std::size_t k = from; k <= to; ++k) sum += s.values[k][4 * m + i];
        sum /= static_cast<double>(to - from + 1);
        over_draws += sum / 4;
        EXPECT_NEAR(window.values[row][4 * m + i], sum, 1e-13) << "row " << row;
      }
      EXPECT_NEAR(both.values[row][m], over_draws, 1e-13);
    }
    from = to + 1;
  }
}

// Where the parts are cut changes nothing, not by a bit: the compiler must not choose anew where it
// fuses a product and a sum, as it does for loops of another length.
TEST(Ensemble, PartsGiveTheSameNumbers) {
  Simulation cut;
  cut.contract = false;
  const auto whole = run_text(kFields, cut);
  cut.batch = 5;
  const auto parts = run_text(kFields, cut);
  ASSERT_EQ(whole.series.size(), parts.series.size());
  for (const auto& a : whole.series) {
    const auto& b = series(parts, a.name);
    ASSERT_EQ(a.steps, b.steps) << a.name;
    ASSERT_EQ(a.values.size(), b.values.size());
    for (std::size_t row = 0; row < a.values.size(); ++row)
      for (std::size_t i = 0; i < a.values[row].size(); ++i)
        if (!std::isnan(a.values[row][i])) {
          EXPECT_EQ(a.values[row][i], b.values[row][i]) << a.name << ", row " << row;
        }
  }
}

// Each instance ends by itself and keeps its last state.
TEST(Ensemble, InstancesEndByThemselves) {
  const auto r = run_text(R"(model fall "each stops at the ground"
sweep h = [1, 2, 4]
var x: real
x'' = -1
init x = h, x' = 0
evolve leapfrog, dt = 0.01, until = x < 0
ground = first(t, x < 0)
every 100 steps: x, x', t -> "f.h5"
at end: ground -> "f.h5"
)",
                          {});
  const auto& t = series(r, "t");
  const auto& ground = series(r, "ground");
  for (std::size_t i = 0; i < 3; ++i) {
    const double exact = std::sqrt(2 * r.axes[0].values[i]);
    EXPECT_NEAR(ground.values[0][i], exact, 1e-4);
    EXPECT_NEAR(t.values.back()[i], exact, 0.0101);
  }
  EXPECT_NEAR(r.time, std::sqrt(8.0), 0.0101);
}

// An instance that blows up is named; the others go on to their end.
TEST(Ensemble, OneFailureDoesNotEndTheOthers) {
  const auto r = run_text(R"(model runaway "x' = k x^2 reaches infinity at 1/k"
sweep k = [0.1, 2, 0.2]
var x: real
x' = k*x^2
init x = 1
evolve rk4, dt = 0.01, until = t > 2
every 50 steps: x -> "r.h5"
expect x < 10
)",
                          {});
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].instance, 1);
  EXPECT_NE(r.failures[0].where.find("k = 2"), std::string::npos);
  EXPECT_FALSE(r.all_expected());
  const auto& x = series(r, "x");
  EXPECT_NEAR(x.values.back()[0], 1 / (1 - 0.1 * 2.01), 1e-2);
  EXPECT_TRUE(std::isnan(x.values.back()[1]));
  EXPECT_NEAR(x.values.back()[2], 1 / (1 - 0.2 * 2.01), 1e-2);
}

// Each instance has the vacuum of its own mass: <phi^2> of the modes of a ring.
TEST(Ensemble, VacuumHasTheMassOfItsInstance) {
  const auto r = run_text(R"(model vacuum "vacuum of two masses"
sweep m = [0.1, 8]
sweep draw = 1..400
lattice ring: 16, length = 16
field phi: real
potential V = m^2*phi^2/2
init phi ~ vacuum(form = kspace)
evolve leapfrog, dt = 0.05, until = t > 1
v = mean(phi^2)
every 1000 steps: mean(v, over = draw) -> "v.h5"
)",
                          {});
  const auto& v = series(r, "mean(v, over = draw)");
  for (std::size_t i = 0; i < 2; ++i) {
    const double m = r.axes[0].values[i];
    double exact = 0;  // sum over the modes but the zero mode of 1/(2 omega L)
    for (int n = -7; n <= 8; ++n)
      if (n != 0) exact += 1 / (2 * std::hypot(2 * std::numbers::pi * n / 16, m) * 16);
    ASSERT_GT(v.errors[0][i], 0);
    EXPECT_NEAR(v.values[0][i], exact, 4 * v.errors[0][i]) << "m = " << m;
    EXPECT_LT(v.errors[0][i], 0.1 * exact);
  }
}

// A value asked for by two clauses at one step goes to the files of both.
TEST(Ensemble, TwoClausesAtOneStepWriteTheirFiles) {
  const testing::ScratchFolder folder;
  Simulation setup;
  setup.out = folder.path().string();
  run_text(R"(model twice
sweep path = 1..3
var x: real
x' = 0.2 + 0.5*noise
init x = 0
evolve euler_maruyama, dt = 0.01, until = t >= 1
every 50 steps: x, mean(x, over = path) -> "a.h5"
at end: x, mean(x, over = path) -> "b.h5"
)",
           setup);
  for (const auto& [name, rows] : {std::pair("a.h5", 3u), std::pair("b.h5", 1u)}) {
    const hid_t file = H5Fopen((folder.path() / name).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file, 0) << name;
    const hid_t set = H5Dopen2(file, "/series/x", H5P_DEFAULT);
    ASSERT_GE(set, 0) << name;
    const hid_t space = H5Dget_space(set);
    hsize_t shape[2] = {};
    H5Sget_simple_extent_dims(space, shape, nullptr);
    EXPECT_EQ(shape[0], rows) << name;
    EXPECT_EQ(shape[1], 3u) << name;
    H5Sclose(space), H5Dclose(set), H5Fclose(file);
  }
}

// Within n*sigma, over the ensemble: uniform starts have mean 1/2; a planted bias is found.
TEST(Ensemble, PromisesWithinTheirError) {
  const auto promise = [](const char* value) {
    return run_text(std::string(R"(model draws "mean of uniform numbers"
sweep path = 1..2000
var x: real
x' = 0*x
init x ~ uniform(0, 1)
evolve rk4, dt = 0.1, until = t > 0.25
at end: mean(x, over = path) -> "d.h5"
expect mean(x, over = path) == )") +
                        value + " within 4*sigma\n",
                    {});
  };
  const auto right = promise("0.5");
  EXPECT_TRUE(right.all_expected());
  const auto& mean = series(right, "mean(x, over = path)");
  ASSERT_EQ(mean.points.size(), 1u);
  EXPECT_NEAR(mean.errors[0][0], std::sqrt(1 / 12.0 / 2000), 2e-4);
  EXPECT_FALSE(promise("0.54").all_expected());  // six sigma off
}

// What is no average is averaged over time and paths before it is judged, and that mean is what the
// verdict shows, not the last value of one path; with a right side that is a formula too.
TEST(Ensemble, VerdictWithinSigmaShowsTheMean) {
  for (const char* right : {"0.5", "T"}) {
    const auto result = run_text(std::string(R"(model ou "mean square of a noisy number"
param T = 0.5
sweep path = 1..500
var x: real
x' = -x + sqrt(2*T)*noise
init x ~ normal(0, sqrt(T))
evolve srk2, dt = 0.05, until = t > 20
every 20 steps: mean(x^2, over = path) -> "ou.h5"
expect x^2 == )") + right + " within 5*sigma\n",
                                 {});
    EXPECT_TRUE(result.all_expected());
    EXPECT_NEAR(result.expectations[0].value, 0.5, 0.05) << right;  // a value has sigma 0.7
  }
}

// An average that begins `after` something has no mean before; its error knows only what came then.
TEST(Ensemble, PromisesOfOutputsThatBeginLater) {
  const auto promise = [](const std::string& value) {
    Simulation setup;
    return run_text(
        "model later\nsweep a = [1, 2]\nvar x: real\nx' = -x + a*noise\ninit x = 50\n"
        "evolve srk2, dt = 0.02, until = t > 200\nevery 10 steps, after = t > 20: x -> \"l.h5\"\n"
        "expect x == " +
            value + " within 4*sigma\n",
        setup);
  };
  const auto sound = promise("0");  // sigma is 0.07 and 0.15
  EXPECT_TRUE(sound.all_expected()) << sound.expectations[0].value;
  EXPECT_LT(std::abs(sound.expectations[0].value), 0.7);
  EXPECT_FALSE(promise("1.5").all_expected());
}

// What is made of averages over instances has no state at hand: refused, not wrong.
TEST(Ensemble, StateBesideAnAverageIsRefused) {
  const char* text = R"(model beside "the state beside an average over instances"
sweep draw = 1..4
var x: real
x'' = -x
init x ~ normal
evolve leapfrog, dt = 0.01, until = t > 1
every 10 steps: (x - mean(x, over = draw))^2 -> "bad.h5"
)";
  try {
    run_text(text, {});
    FAIL() << "it ran";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("E0901"), std::string::npos) << error.what();
  }
}

// Ornstein-Uhlenbeck process by Euler-Maruyama: the variance of the stationary state of the scheme
// is T/gamma/(1 - gamma*dt/2), exactly. Seed 1; four sigma of 2000 paths. A variance that is off by
// a tenth is found.
TEST(Ensemble, OrnsteinUhlenbeckVariance) {
  const auto run = [](const char* factor) {
    return run_text(std::string(R"(model ou "stationary variance"
sweep T = [0.5, 2]
sweep path = 1..2000
var x: real
x' = -x + sqrt(2*T)*noise
init x ~ normal(0, sqrt(T/0.95))
evolve euler_maruyama, dt = 0.1, until = t > 20
every 50 steps, after = t > 5: var(x, over = path), mean(x^2, over = [path, time]) -> "ou.h5"
plot mean(x^2) against T
expect mean(x^2, over = [path, time]) == )") +
                        factor + "*T/0.95 within 4*sigma\n",
                    {});
  };
  const auto right = run("1");
  EXPECT_TRUE(right.all_expected());
  ASSERT_EQ(right.plots.size(), 1u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& plot = right.plots[0];
    EXPECT_NEAR(plot.y[i], plot.x[i] / 0.95, 4 * plot.error[i]) << "T = " << plot.x[i];
    EXPECT_LT(plot.error[i], 0.02 * plot.x[i]);
  }
  EXPECT_FALSE(run("0.9").all_expected());
}

// A process is the same wherever its path stands: alone, in a part, among others.
TEST(Ensemble, NoiseBelongsToThePath) {
  const char* text = R"(model walk "Brownian motion"
sweep D = [0.5, 1]
sweep path = 1..6
var x: real
x' = sqrt(2*D)*noise
init x = 0
evolve euler_maruyama, dt = 0.1, until = t > 2
every 5 steps: x -> "w.h5"
)";
  const auto all = run_text(text, {});
  Simulation one;
  one.set = {{"D", "1"}, {"path", "4"}};
  const auto alone = run_text(text, one);
  const auto& x = series(all, "x");
  const auto& y = series(alone, "x");
  for (std::size_t row = 0; row < x.values.size(); ++row) {
    EXPECT_NEAR(x.values[row][6 + 3], y.points[row].second, 1e-13);
    // the same noise along D
    EXPECT_NEAR(x.values[row][6 + 3], std::sqrt(2.0) * x.values[row][3], 1e-13);
  }
  EXPECT_GT(std::abs(x.values.back()[0] - x.values.back()[1]), 1e-6);
}

}  // namespace
}  // namespace vphi
