// Deviations with a large mean: the mean is added to the reference, without effect on the field,
// its outputs and a run that goes on from a checkpoint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dsl/messages/diagnostic.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/series_difference.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_text;
using testing::run_text;
using testing::ScratchFolder;

/// chi, which has no reference, drives the mean of phi away from the homogeneous solution at once.
std::string driven(const std::string& store, const std::string& real,
                   const std::string& step = "leapfrog", const std::string& steps = "640") {
  return R"(model driven "another field moves the mean"
lattice box: 16^3, length = 8, boundary = periodic
field phi: real, store = )" +
         store + R"(
field chi: real, store = value
potential V = phi^2/2 + 0.1*phi^4 + chi^2/2 + 0.3*phi*chi
init phi ~ 1 + normal(0, 1e-6), chi ~ 0.5 + normal(0, 1e-6)
precision real = )" +
         real + "\nevolve " + step + ", dt = 0.02, until = step >= " + steps + R"(
every 64 steps: mean(phi), mean(phi'), var(phi), mean(phi^2) -> "s.csv"
)";
}

/// An expanding box of one field whose fluctuations grow until they hold its mean.
std::string expanding(const std::string& store, const std::string& real,
                      const std::string& form = "") {
  return R"(model small "back-reaction in an expanding box"
units reduced_planck
param m = 5e-6, g = 100*m, phi0 = 1.0093430384226378, dphi0 = -0.7137133070120812*m
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a)
field phi: real, store = )" +
         store + R"(
field chi: real, store = value
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 1/phi0, B = m, s = 0)" +
         form + R"(
init phi ~ phi0 + vacuum, phi' ~ dphi0 + vacuum, chi ~ 0.01*phi0 + vacuum
precision real = )" +
         real + R"(
evolve leapfrog, dt = 2^-6/m, until = step >= 512
every 64 steps: a, H, mean(phi), var(phi), mean(rho) -> "s.csv"
)";
}

using testing::largest_difference;

/// |mean| over the rms about it, of the first array of state.
double mean_over_rms(const runtime::RunResult& r) {
  double mean = 0, square = 0;
  for (const double v : r.state.at(0)) mean += v, square += v * v;
  const auto n = static_cast<double>(r.state.at(0).size());
  mean /= n, square /= n;
  return std::fabs(mean) / std::sqrt(square - mean * mean);
}

TEST(Recentring, ChangesNoOutput) {
  for (const char* step : {"leapfrog", "velocity_verlet", "rk4"}) {
    const auto plain = run_text(driven("value", "f64", step), {});
    const auto apart = run_text(driven("deviation", "f64", step), {});
    for (const char* name : {"mean(phi)", "mean(phi')", "mean(phi^2)"})
      EXPECT_LT(largest_difference(apart, plain, name), 1e-12) << step << ": " << name;
    EXPECT_LT(largest_difference(apart, plain, "var(phi)"), 1e-7) << step;
  }
  const auto plain = run_text(expanding("value", "f64"), {});
  const auto apart = run_text(expanding("deviation", "f64"), {});
  for (const char* name : {"a", "H", "mean(phi)", "mean(rho)"})
    EXPECT_LT(largest_difference(apart, plain, name), 1e-12) << name;
}

TEST(Recentring, BringsTheReferenceBackToTheMean) {
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    for (const char* real : {"f32", "f64"}) {
      testing::Simulation setup;
      setup.device = device, setup.keep_state = true;
      setup.steps = 128;
      EXPECT_LT(mean_over_rms(run_text(driven("deviation", real), setup)), 1) << device;
      setup.steps = 127;
      EXPECT_GT(mean_over_rms(run_text(driven("deviation", real), setup)), 1e4) << device;
    }
  }
}

TEST(Recentring, KeepsTheDigitsInSinglePrecision) {
  const auto f64 = run_text(driven("value", "f64"), {});
  const auto f32 = run_text(driven("deviation", "f32"), {});
  EXPECT_LT(largest_difference(f32, f64, "mean(phi)"), 1e-6);
  EXPECT_LT(largest_difference(f32, f64, "mean(phi^2)"), 1e-6);
}

TEST(Recentring, ARunThatGoesOnHasTheSameBits) {
  const auto compiled = compile_text(driven("deviation", "f32"), {});
  ASSERT_GT(compiled.program->cycle.size(), 1u);
  const ScratchFolder folder;
  runtime::RunOptions options;
  options.keep_state = true;
  options.keep.on = true;
  options.out = (folder / "whole").string();
  const auto whole = runtime::run(*compiled.program, *testing::device("native"), options);
  for (const int stop : {100, 128, 200, 256}) {
    const std::string name = "parts" + std::to_string(stop);
    options.out = (folder / name).string();
    options.steps = stop;
    options.resume = nullptr;
    options.keep.at_end_after = 0;
    runtime::run(*compiled.program, *testing::device("native"), options);
    options.steps = -1;
    options.resume = runtime::find_checkpoint(folder / name, "driven").reader;
    const auto rest = runtime::run(*compiled.program, *testing::device("native"), options);
    EXPECT_EQ(rest.resumed_from, stop);
    EXPECT_EQ(rest.state, whole.state) << stop;
    EXPECT_EQ(rest.scalars, whole.scalars) << stop;
  }
}

// Outputs look at other steps: the state is the same.
TEST(Recentring, DoesNotDependOnOutputs) {
  testing::Simulation setup;
  setup.keep_state = true;
  const std::string text = driven("deviation", "f32");
  std::string seldom = text;
  seldom.replace(seldom.find("every 64"), 8, "every 77");
  EXPECT_EQ(run_text(text, setup).state, run_text(seldom, setup).state);
}

}  // namespace
}  // namespace vphi
