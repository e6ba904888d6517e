// Steps whose length follows from their error, `evolve tsit5, tol = 1e-8`, against closed
// solutions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/run/onlooker.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

constexpr double kTurn = 2 * std::numbers::pi;

// ---- a planet on an ellipse of eccentricity 0.9: after a revolution it is where it began

struct Orbit {
  double error = 0, forces = 0, accepted = 0;
};

std::string orbit(const std::string& evolve, const std::string& outputs) {
  return fmt::format(R"(model orbit "eccentricity 0.9"
var q: vec(2), p: vec(2)
q' = p
p' = -q/norm(q)^3
init q = [0.1, 0], p = [0, sqrt(19)]
evolve {}
at end: x1 = dot(q, [1, 0]), x2 = dot(q, [0, 1]), {} -> "o.h5"
)",
                     evolve, outputs);
}

double distance(const runtime::RunResult& r) {
  return std::hypot(last(r, "x1") - 0.1, last(r, "x2"));
}

/// One revolution; `stages`: forces of a trial.
Orbit adaptive(const std::string& integrator, double tol, int stages) {
  const auto result = run_text(
      orbit(fmt::format("{}, tol = {}, until = t >= {}", integrator, exact(tol), exact(kTurn)),
            "t, accepted, rejected"),
      {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  EXPECT_DOUBLE_EQ(last(result, "t"), kTurn);
  const double accepted = last(result, "accepted"), rejected = last(result, "rejected");
  return {distance(result), stages * (accepted + rejected), accepted};
}

Orbit fixed(const std::string& integrator, int steps, int stages) {
  Simulation setup;
  setup.steps = steps;
  const auto result =
      run_text(orbit(fmt::format("{}, dt = {}", integrator, exact(kTurn / steps)), "t"), setup);
  return {distance(result), static_cast<double>(stages) * steps, static_cast<double>(steps)};
}

TEST(Tolerance, KeplerErrorFollowsIt) {
  for (const auto& [name, stages] : {std::pair{"tsit5", 7}, {"bogacki_shampine3", 4}}) {
    SCOPED_TRACE(name);
    const Orbit coarse = adaptive(name, 1e-6, stages), fine = adaptive(name, 1e-8, stages);
    EXPECT_LT(coarse.error, 1e-6 * 3e3);
    EXPECT_LT(fine.error, 1e-8 * 3e3);
    EXPECT_GT(coarse.error / fine.error, 30);
    // the number of steps grows as tol^(-1/order)
    const double order = stages == 4 ? 3 : 5;
    EXPECT_NEAR(std::log(fine.accepted / coarse.accepted) / std::log(100), 1 / order, 0.04);
  }
}

TEST(Tolerance, KeplerNeedsFewerForcesThanEqualSteps) {
  const Orbit orbit = adaptive("tsit5", 1e-8, 7);
  const int steps = static_cast<int>(orbit.forces / 7);
  EXPECT_GT(fixed("tsit5", steps, 7).error, 1000 * orbit.error);
  // ten times the forces are not enough either
  EXPECT_GT(fixed("tsit5", 10 * steps, 7).error, orbit.error);
  EXPECT_GT(fixed("rk4", 10 * steps, 4).error, orbit.error);
}

// ---- equal steps: the orders of the texts

/// The error of q' = -2 t q^2, q = 1/(1 + t^2), at 2.
double error_of_equal_steps(const std::string& integrator, int steps) {
  Simulation setup;
  setup.steps = steps;
  const auto result =
      run_text("model m\nvar q: real\nq' = -2*t*q^2\ninit q = 1\nevolve " + integrator +
                   ", dt = " + exact(2.0 / steps) + "\nat end: q -> \"q.h5\"\n",
               setup);
  return std::fabs(last(result, "q") - 0.2);
}

TEST(Tolerance, OrdersOfTheTexts) {
  for (const auto& [name, order] :
       {std::pair{"tsit5", 5.0}, {"dormand_prince5", 5.0}, {"bogacki_shampine3", 3.0}}) {
    const int steps = order > 4 ? 40 : 200;
    const double measured =
        std::log2(error_of_equal_steps(name, steps) / error_of_equal_steps(name, 2 * steps));
    EXPECT_GT(measured, order - 0.15) << name;
    EXPECT_LT(measured, order + 0.5) << name;
  }
}

// ---- times of outputs

TEST(Tolerance, OutputsAreAtTheirTimes) {
  const auto result = run_text(R"(model swing "an oscillator"
var q: real
q'' = -q
init q = 1, q' = 0
evolve tsit5, tol = 1e-9, until = t > 30
every 0.75: t, q, accepted -> "q.h5"
every 2: v = q' -> "q.h5"
)",
                               {});
  const auto& q = result.find("q")->points;
  ASSERT_EQ(q.size(), 41U);
  for (std::size_t i = 0; i < q.size(); ++i) {
    EXPECT_DOUBLE_EQ(q[i].first, 0.75 * static_cast<double>(i));
    EXPECT_NEAR(q[i].second, std::cos(q[i].first), 3e-8);
  }
  const auto& v = result.find("v")->points;
  ASSERT_EQ(v.size(), 16U);
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(v[i].second, -std::sin(2.0 * static_cast<double>(i)), 3e-8);
  EXPECT_NEAR(last(result, "t"), 30, 1e-14);  // and no step beyond the end
}

TEST(Tolerance, InstancesOfASweepMeetTheSameTimes) {
  const auto result = run_text(R"(model swings "slow and fast oscillators"
sweep w = [0.3, 1, 20]
var q: real
q'' = -w^2*q
init q = 1, q' = 0
evolve dormand_prince5, tol = 1e-9, until = t >= 3
every 0.5: time = t, q -> "q.h5"
at end: accepted -> "q.h5"
)",
                               {});
  const double w[] = {0.3, 1, 20};
  const auto& q = *result.find("q");
  const auto& time = *result.find("time");
  ASSERT_EQ(q.values.size(), 7U);
  for (std::size_t row = 0; row < q.values.size(); ++row)
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_DOUBLE_EQ(time.values[row][i], 0.5 * static_cast<double>(row));
      EXPECT_NEAR(q.values[row][i], std::cos(w[i] * time.values[row][i]), 1e-6);
    }
  const auto& accepted = result.find("accepted")->values.back();
  EXPECT_GT(accepted[2], 5 * accepted[1]);
}

// ---- dt, the first trial and the longest step

TEST(Tolerance, NoStepIsLongerThanDt) {
  const auto run = [](const std::string& dt) {
    const auto result =
        run_text("model m\nvar q: real\nq' = -q\ninit q = 1\nevolve tsit5, tol = 1e-4" + dt +
                     ", until = t >= 4\nat end: q, accepted -> \"q.h5\"\n",
                 {});
    EXPECT_NEAR(last(result, "q"), std::exp(-4), 1e-4);
    return last(result, "accepted");
  };
  EXPECT_LT(run(""), 20);
  EXPECT_LT(run(", dt = 1"), 20);
  EXPECT_GE(run(", dt = 0.02"), 200);
}

TEST(Tolerance, ASingularityEndsTheRun) {
  const auto result = run_text(R"(model pole "q is the inverse of 1 - t"
var q: real
q' = q^2
init q = 1
evolve tsit5, tol = 1e-8, until = t > 2
at end: t, q, rejected -> "q.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "t"), 1, 1e-6);
  ASSERT_EQ(result.expectations.size(), 1U);
  EXPECT_FALSE(result.expectations[0].ok);
}

// ---- fields

/// A wave u = cos(k x - w t) with the stencil's own frequency, 2/dx sin(k dx/2).
TEST(Tolerance, AWaveOnALattice) {
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    SCOPED_TRACE(device);
    Simulation setup;
    setup.device = device;
    const auto result = run_text(R"(model wave "a plane wave"
lattice line: 32, length = 2*pi, boundary = periodic
field u: real
w = 2/dx*sin(3*dx/2)
u'' = lap(u)
init u = cos(3*x), u' = w*sin(3*x)
evolve tsit5, tol = 1e-8, until = t >= 5
every 1: off = max(abs(u - cos(3*x - w*t))) -> "u.h5"
at end: accepted, rejected -> "u.h5"
)",
                                 setup);
    const auto& off = result.find("off")->points;
    ASSERT_EQ(off.size(), 6U);
    for (const auto& [t, error] : off) EXPECT_LT(error, 3e-7) << t;
    EXPECT_GT(off.back().second, 1e-10);
    EXPECT_GT(last(result, "accepted"), 20);
  }
}

constexpr const char* kLump = R"(model lump "a lump that falls apart"
lattice box: 8^3, length = 4, boundary = periodic
field u: real
u'' = lap(u) - u^3
init u = 2*exp(-x^2 - 2*y^2 - z^2), u' = 0
evolve bogacki_shampine3, tol = 1e-5, until = t >= 1
every 0.25: t, max(u), accepted, rejected, dt -> "u.h5"
every 5 steps: min(u) -> "u.h5"
)";

TEST(Tolerance, RanksTakeTheSameSteps) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "lump.vphi").string();
  std::ofstream(path) << kLump;
  const auto result = testing::cut_and_compare(path, 3);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

/// Interrupts at the first look at or after a step.
class StopAt : public runtime::Onlooker {
 public:
  explicit StopAt(std::int64_t step) : step_(step) {}
  bool attending() const override { return false; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table&, const io::Moment&) override {}
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress& now) override {
    return now.step >= step_ ? runtime::Wish::Stop : runtime::Wish::GoOn;
  }

 private:
  std::int64_t step_;
};

TEST(Tolerance, AResumedRunHasTheSameBits) {
  const testing::ScratchFolder folder;
  const auto compiled = testing::compile_text(kLump, {});
  ASSERT_TRUE(compiled.program);
  const auto go = [&](const std::string& name, runtime::Onlooker* onlooker, bool resume) {
    runtime::RunOptions options;
    options.out = (folder / name).string();
    options.keep.on = true;
    options.keep_state = true;
    options.onlooker = onlooker;
    if (resume)
      options.resume = runtime::find_checkpoint(folder / name, compiled.program->model).reader;
    return runtime::run(*compiled.program, *testing::device("native"), options);
  };
  const auto whole = go("whole", nullptr, false);
  StopAt stop(9);
  EXPECT_TRUE(go("parts", &stop, false).interrupted);
  const auto rest = go("parts", nullptr, true);
  EXPECT_GT(rest.resumed_from, 0);
  EXPECT_EQ(rest.state, whole.state);
  EXPECT_EQ(rest.scalars, whole.scalars);
  ASSERT_EQ(rest.series.size(), whole.series.size());
  for (std::size_t i = 0; i < rest.series.size(); ++i) {
    EXPECT_EQ(rest.series[i].points, whole.series[i].points) << rest.series[i].name;
    const auto& later = rest.series[i].steps;  // those of this part of the run
    const auto& all = whole.series[i].steps;
    ASSERT_LE(later.size(), all.size());
    EXPECT_TRUE(std::equal(later.rbegin(), later.rend(), all.rbegin())) << rest.series[i].name;
  }
}

// The reference is that of docs/formulas.md 1.10, computed to 1e-13 by another program.
TEST(Tolerance, AFieldAndTheExpansionThatFollowsFromIt) {
  const auto result = run_text(R"(model quadratic "phi^2 inflation ends"
units reduced_planck
lattice box: 2^3, length = 1, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^2/2
rescale A = 1, B = 1, s = 0
init phi = 1.0093430384226378, phi' = -0.7137133070120812
evolve dormand_prince5, tol = 1e-10, until = t >= 16
every 4: a, H -> "a.h5"
expect abs(mean(rho)/(3*H^2) - 1) < 1e-7
)",
                               {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  const auto& a = result.find("a")->points;
  ASSERT_EQ(a.size(), 5U);
  EXPECT_NEAR(a[1].second / 2.396249522117, 1, 1e-9);
  EXPECT_NEAR(a[4].second / 5.060606500460, 1, 1e-9);
  EXPECT_NEAR(last(result, "H") / 3.781603353340e-2, 1, 1e-8);
}

}  // namespace
}  // namespace vphi
