// `vacuum` in `init`: field and velocity together, half a quantum in every mode.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "runtime/fft/fft.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;
using testing::Simulation;

constexpr int kSide = 16;
constexpr double kLength = 5;

struct Power {
  double field = 0, rate = 0;  ///< <2 omega |f_k|^2>, <2 |f'_k|^2/omega>, of unit volume: 1 each
  double product = 0;          ///< <Re f_k conj(f'_k)>, relative
};

/// Averages over all modes but the mean; `scale` takes the stored momentum to f'.
Power power(const std::vector<double>& f, const std::vector<double>& v, double mass2) {
  const fft::Box box{{kSide, kSide, kSide}};
  std::vector<fft::Complex> fk(static_cast<std::size_t>(box.modes())), vk(fk.size());
  fft::forward(box, f.data(), fk.data(), 1);
  fft::forward(box, v.data(), vk.data(), 1);
  Power sum;
  int modes = 0;
  const double volume = std::pow(kLength, 3), sites = std::pow(kSide, 3);
  for (int z = 0; z < kSide; ++z)
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x <= kSide / 2; ++x) {
        const int ny = std::min(y, kSide - y), nz = std::min(z, kSide - z);
        if (x + ny + nz == 0) continue;
        const double k = 2 * std::numbers::pi / kLength * std::sqrt(x * x + ny * ny + nz * nz);
        const double omega = std::sqrt(k * k + mass2);
        const auto at = static_cast<std::size_t>((z * kSide + y) * (kSide / 2 + 1) + x);
        const fft::Complex a = fk[at] / sites, b = vk[at] / sites;
        sum.field += 2 * omega * std::norm(a) * volume;
        sum.rate += 2 / omega * std::norm(b) * volume;
        sum.product += 2 * (a * std::conj(b)).real() * volume;
        ++modes;
      }
  return {sum.field / modes, sum.rate / modes, sum.product / modes};
}

runtime::RunResult start(const std::string& body) {
  Simulation setup;
  setup.steps = 0;
  setup.keep_state = true;
  return run_text(
      "model start \"the first moment\"\nlattice box: 16^3, length = 5, "
      "boundary = periodic\n" +
          body +
          "precision real = f64\nevolve leapfrog, dt = 0.01, until = t > 1\n"
          "every 1 step: t -> \"s.h5\"\n",
      setup);
}

// 2300 modes: a mean of |.|^2 is known to 3 %.
void expect_half_a_quantum(const Power& p, double field = 1, double rate = 1) {
  EXPECT_NEAR(p.field, field, 0.15 * field);
  EXPECT_NEAR(p.rate, rate, 0.15 * rate);
  EXPECT_NEAR(p.product, 0, 0.1);
}

TEST(VacuumStart, TheVelocityIsDrawnWithTheField) {
  const auto r = start("field f: real\npotential V = 4*f^2/2\ninit f ~ vacuum(form = kspace)\n");
  expect_half_a_quantum(power(r.state[0], r.state[1], 4));
}

TEST(VacuumStart, AWrittenVelocityIsKept) {
  const auto rest =
      start("field f: real\npotential V = 4*f^2/2\ninit f ~ vacuum(form = kspace), f' = 0\n");
  for (const double v : rest.state[1]) ASSERT_EQ(v, 0);
  const auto both = start(
      "field f: real\npotential V = 4*f^2/2\n"
      "init f ~ vacuum(form = kspace), f' ~ 7 + vacuum(form = kspace)\n");
  expect_half_a_quantum(power(both.state[0], both.state[1], 4));
  double mean = 0;
  for (const double v : both.state[1]) mean += v / std::pow(kSide, 3);
  EXPECT_NEAR(mean, 7, 1e-12);
}

TEST(VacuumStart, AMultipleMovesAsOne) {
  const auto r =
      start("field f: real\npotential V = 4*f^2/2\ninit f ~ 3 + 2*vacuum(form = kspace)\n");
  expect_half_a_quantum(power(r.state[0], r.state[1], 4), 4, 4);
  double mean = 0;
  for (const double v : r.state[1]) mean += v / std::pow(kSide, 3);
  EXPECT_NEAR(mean, 0, 1e-12);
}

TEST(VacuumStart, BothPartsOfAComplexField) {
  const auto r =
      start("field f: complex\npotential V = 4*abs(f)^2\ninit f ~ vacuum(form = kspace)\n");
  // |f'|^2: each part is canonical but for 1/sqrt(2)
  for (int part : {0, 1})
    expect_half_a_quantum(power(r.state[part], r.state[2 + part], 4), 0.5, 0.5);
}

TEST(VacuumStart, MomentaUnderAHamiltonian) {
  const auto r = start(
      "field q, p: real\nH = total(p^2/2 + norm2(grad(q))/2 + 4*q^2/2)\n"
      "init q ~ vacuum(form = kspace)\n");
  expect_half_a_quantum(power(r.state[0], r.state[1], 4));
}

// H = p^2/(2 M) + M (...): sqrt(M) q is canonical with p/sqrt(M)
TEST(VacuumStart, MomentaOfAHeavyField) {
  const auto r = start(
      "field q, p: real\nparam M = 9\nH = total(p^2/(2*M) + M*norm2(grad(q))/2 + M*4*q^2/2)\n"
      "init q ~ vacuum(form = kspace)\n");
  expect_half_a_quantum(power(r.state[0], r.state[1], 4), 1.0 / 9, 9);
  const auto written = start(
      "field q, p: real\nparam M = 9\nH = total(p^2/(2*M) + M*norm2(grad(q))/2 + M*4*q^2/2)\n"
      "init q = 0, p ~ vacuum(form = kspace)\n");
  EXPECT_NEAR(power(written.state[0], written.state[1], 4).rate, 9, 1.4);
}

// Shipped models of preheating: chi moves from the start.
TEST(VacuumStart, ShippedModelsStartInTheVacuum) {
  for (const char* name : {"preheating", "preheating_figures", "lphi4", "gw", "gw_lphi4"}) {
    Simulation setup;
    setup.lattice = "16^3";
    setup.steps = 0;
    setup.keep_state = true;
    const auto compiled =
        testing::compile_file(testing::shipped(std::string("cosmology/") + name), setup);
    ASSERT_TRUE(compiled.program) << name;
    const auto r = testing::run_program(*compiled.program, setup);
    for (std::size_t v = 0; v < compiled.program->state.size(); ++v) {
      const std::string& shown = compiled.program->state[v].shown;
      if (shown != "chi" && shown != "chi'") continue;
      double square = 0;
      for (const double x : r.state[v]) square += x * x;
      EXPECT_GT(square, 0) << name << ": " << shown;
    }
  }
}

}  // namespace
}  // namespace vphi
