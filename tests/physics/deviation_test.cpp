// `store = deviation`: the same equations as without it in f64, and in f32 the digits of the
// fluctuations that a stored sum of mean and fluctuation loses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

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

/// A model with `STORE`, `REAL` and `STEP` in the places of how it is stored, its precision and its
/// integrator.
std::string with(std::string text, const std::string& store, const std::string& real,
                 const std::string& step = "leapfrog") {
  const auto put = [&](const std::string& word, const std::string& value) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word))
      text.replace(at, word.size(), value);
  };
  put("STORE", store.empty() ? "" : ", store = " + store);
  put("REAL", real);
  put("STEP", step);
  return text;
}

const std::string kPreheating = R"(model small "fluctuations of 1e-6 on a mean of 1"
units reduced_planck
param m = 5e-6, g = 100*m, phi0 = 1.0093430384226378, dphi0 = -0.7137133070120812*m
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a)
field phi: real STORE
field chi: real
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 1/phi0, B = m, s = 0
laplacian = iso27
init phi ~ phi0 + vacuum, phi' ~ dphi0 + vacuum, chi ~ vacuum
precision real = REAL
evolve STEP, dt = 2^-7/m, until = t > 4.001/m
every 128 steps: a, H, mean(phi), var(phi), var(chi), mean(rho) -> "s.csv"
every 256 steps: spectrum(phi, chi) -> "s.csv"
)";

const std::string kCurvaton = R"(model small "a curvaton in radiation"
units reduced_planck
param m = 1e-8, g = 1e-2, sigma0 = 2e-4
lattice box: 16^3, length = 5/(6*m), boundary = periodic
metric frw(a), rho_r = 1e-20/4
field phi, chi: real STORE
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 1/sigma0, B = m, s = -1
init phi ~ sigma0 + vacuum, chi ~ 1e-16 + vacuum
precision real = REAL
evolve STEP, dt = 4e-4/m, until = step >= 600
every 100 steps: a, H, mean(phi), var(phi), var(chi), mean(rho) -> "s.csv"
every 300 steps: spectrum(phi, chi) -> "s.csv"
)";

/// Every function that has a difference without cancellation.
const std::string kElementary = R"(model small "elementary functions of a field"
lattice box: 16^3, length = 8, boundary = periodic
field phi: real STORE
field chi: real
potential V = 1 - cos(phi) + (1 + phi^2)*chi^2/2 + 0.1*exp(phi)/(1 + phi^2) + 0.05*tanh(phi)
    + 0.01*sqrt(2 + phi^2*(1 + chi^2)) + 0.02*log(3 + phi^2) + 0.01*(2 + phi^2)^1.3
    + 0.01*atan(phi) + 0.01*phi^4 + 0.01*cosh(phi)*sinh(0.3*phi) + 0.01*2^phi + 0.01*tan(phi/4)
init phi ~ 1.5 + normal(0, 1e-6), phi' = 0.2, chi ~ normal(0, 1e-6)
precision real = REAL
evolve STEP, dt = 0.02, until = step >= 200
every 50 steps: mean(phi), mean(phi'), var(phi), var(chi) -> "s.csv"
every 100 steps: spectrum(phi, chi) -> "s.csv"
)";

using testing::largest_difference;

/// P of each bin of each spectrum, in the order of the file.
std::vector<double> powers(const std::string& text, const std::string& device,
                           runtime::RunResult& result) {
  testing::Simulation setup;
  setup.device = device;
  const auto compiled = compile_text(text, setup);
  const ScratchFolder folder;
  runtime::RunOptions options;
  options.out = folder.path().string();
  result = runtime::run(*compiled.program, *testing::device(device), options);
  std::vector<double> out;
  std::ifstream in(folder / "s.spectra.csv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (int column = 0; column < 5; ++column) std::getline(cells, cell, ',');
    out.push_back(std::stod(cell));
  }
  return out;
}

// P and d move by rates that add up to that of the whole, in the same flow: only rounding differs.
TEST(Deviation, MovesTheWholeField) {
  for (const char* step : {"leapfrog", "position_verlet", "yoshida4", "rk4"}) {
    for (const std::string& model : {kPreheating, kElementary, kCurvaton}) {
      const auto plain = run_text(with(model, "value", "f64", step), {});
      const auto apart = run_text(with(model, "deviation", "f64", step), {});
      for (const char* name : {"a", "H", "mean(phi)", "mean(rho)"}) {
        if (!plain.find(name)) continue;
        EXPECT_LT(largest_difference(apart, plain, name), 1e-12) << step << ": " << name;
      }
      EXPECT_LT(largest_difference(apart, plain, "var(phi)"), 1e-8) << step;
      EXPECT_LT(largest_difference(apart, plain, "var(chi)"), 1e-9) << step;
    }
  }
}

void expect_f64s_results(const std::string& model, const std::string& device) {
  runtime::RunResult f64, f32;
  const auto whole = powers(with(model, "value", "f64"), "native", f64);
  const auto apart = powers(with(model, "deviation", "f32"), device, f32);
  ASSERT_GT(whole.size(), 40u);
  ASSERT_EQ(apart.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(apart[i] / whole[i], 1, 1e-2) << "bin " << i << " on " << device;
  for (const char* name : {"a", "H", "mean(rho)"}) {
    if (!f64.find(name)) continue;
    EXPECT_LT(largest_difference(f32, f64, name), 1e-9) << name;
  }
  EXPECT_LT(largest_difference(f32, f64, "mean(phi)"), 1e-9);
  EXPECT_LT(largest_difference(f32, f64, "var(phi)"), 1e-5);
  EXPECT_LT(largest_difference(f32, f64, "var(chi)"), 1e-5);
}

TEST(Deviation, KeepsTheDigitsOfFluctuationsInSinglePrecision) {
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    expect_f64s_results(kPreheating, device);
    expect_f64s_results(kCurvaton, device);
    expect_f64s_results(kElementary, device);
  }
}

// What the test above would find without it.
TEST(Deviation, IsWhatKeepsThem) {
  runtime::RunResult f64, f32;
  const auto whole = powers(with(kPreheating, "value", "f64"), "native", f64);
  const auto stored = powers(with(kPreheating, "value", "f32"), "native", f32);
  double worst = 0;
  for (std::size_t i = 0; i < whole.size(); ++i)
    worst = std::fmax(worst, std::fabs(stored.at(i) / whole[i] - 1));
  EXPECT_GT(worst, 100);
  EXPECT_GT(largest_difference(f32, f64, "var(phi)"), 1e-3);
}

/// A step moves no more memory.
TEST(Deviation, CostsNoMemory) {
  const auto cost = [](const std::string& store) {
    int bytes = 0;
    const auto compiled = compile_text(with(kPreheating, store, "f32"), {});
    for (const auto& launch : compiled.program->step)
      bytes += compiled.program->kernels.at(static_cast<std::size_t>(launch.kernel)).bytes;
    return bytes;
  };
  EXPECT_EQ(cost("deviation"), cost("value"));
}

TEST(Deviation, GoesOnFromACheckpoint) {
  const auto compiled = compile_text(with(kPreheating, "deviation", "f32"), {});
  const ScratchFolder folder;
  runtime::RunOptions options;
  options.keep_state = true;
  options.keep.on = true;
  options.out = (folder / "whole").string();
  const auto whole = runtime::run(*compiled.program, *testing::device("native"), options);
  options.out = (folder / "parts").string();
  options.steps = 200;
  options.keep.at_end_after = 0;
  runtime::run(*compiled.program, *testing::device("native"), options);
  options.steps = -1;
  options.resume = runtime::find_checkpoint(folder / "parts", "small").reader;
  const auto rest = runtime::run(*compiled.program, *testing::device("native"), options);
  EXPECT_EQ(rest.resumed_from, 200);
  EXPECT_EQ(rest.state, whole.state);
  EXPECT_EQ(rest.scalars, whole.scalars);
}

// A snapshot is of the field, not of what is stored.
TEST(Deviation, OutputsAreOfTheSum) {
  const auto r = run_text(R"(model wave "a wave on a mean"
lattice box: [16, 4, 4], spacing = 0.5, boundary = periodic
field u: real, store = deviation
potential V = 0*u
init u = 3 + 1e-7*cos(2*pi*index(x)/16), u' = 2
precision real = f32
evolve leapfrog, dt = 0.25, until = step >= 4
every 4 steps: most = max(u), least = min(u), squares = mean(u^2), rate = mean(u'), spread = sqrt(var(u)) -> "w.h5"
)",
                          {});
  EXPECT_NEAR(r.find("most")->points.at(0).second, 3 + 1e-7, 1e-13);
  EXPECT_NEAR(r.find("least")->points.at(0).second, 3 - 1e-7, 1e-13);
  EXPECT_NEAR(r.find("squares")->points.at(0).second, 9 + 0.5e-14, 1e-12);
  EXPECT_NEAR(r.find("spread")->points.at(0).second / (1e-7 / std::sqrt(2)), 1, 1e-6);
  EXPECT_NEAR(r.find("squares")->points.at(1).second, 25, 1e-12);  // u = 3 + 2 t, t = 1
  EXPECT_NEAR(testing::last(r, "rate"), 2, 1e-14);
}

/// Messages of a model with this line of fields, potential, start and integrator.
std::string said(const std::string& box, const std::string& potential, const std::string& step) {
  const std::string text = "model bad \"no deviation\"\nlattice box: 8^2, length = 8, " + box +
                           "\nfield u: real, store = deviation\n" + potential +
                           "\ninit u ~ 1 + normal(0, 0.1)\n" + step +
                           "\nevery 10 steps: mean(u) -> \"w.h5\"\n";
  try {
    compile_text(text, {});
  } catch (const std::exception& refused) {
    return refused.what();
  }
  return {};
}

TEST(Deviation, IsRefusedWhereThereIsNone) {
  const std::string periodic = "boundary = periodic";
  const std::string leapfrog = "evolve leapfrog, dt = 0.1, until = t > 1";
  const std::string mass = "potential V = u^2/2";
  EXPECT_EQ(said(periodic, mass, leapfrog), "");
  for (const std::string& message :
       {said("boundary = fixed(0)", mass, leapfrog),
        said(periodic, "potential V = u^2/2 + abs(u)^3", leapfrog),
        said(periodic, "potential V = u^2/2 + max(u, 1)^3", leapfrog),
        said(periodic, "u' = lap(u) - u^3", "evolve rk4, dt = 0.01, until = t > 1")})
    EXPECT_NE(message.find("E0322"), std::string::npos) << message;
}

}  // namespace
}  // namespace vphi
