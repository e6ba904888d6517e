// `limit` on fields and variables, against the same steps written out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi::testing {
namespace {

/// One variable; `lines`: its equation, its limits, its start.
std::string oscillator(const std::string& lines, const std::string& integrator,
                       const std::string& outputs = "x") {
  return "model one\nvar x: real\n" + lines + "\nevolve " + integrator +
         ", dt = 0.0625, until = t >= 6\nevery 8 steps: " + outputs + " -> \"one.h5\"\n";
}

double ends_at(const std::string& text) { return last(run_text(text, {}), "x"); }

/// 96 steps of 0.0625 from x, v.
double stepped(double x, double v, const std::function<void(double&, double&)>& step) {
  for (int i = 0; i < 96; ++i) step(x, v);
  return x;
}

constexpr double kStep = 0.0625;

TEST(Limit, ActsAfterEachStepOnAField) {
  const auto r = run_text(
      "model lim\nlattice line: 8, length = 8, boundary = periodic\nfield u: real\nu' = u\n"
      "limit u = min(u, 0.5)\ninit u = 0.1 + 0.01*x\nevolve euler, dt = 0.1, until = t > 10\n"
      "every 10 steps: mean(u), max(u), min(u) -> \"lim.h5\"\n",
      {});
  EXPECT_DOUBLE_EQ(last(r, "max(u)"), 0.5);
  EXPECT_DOUBLE_EQ(last(r, "min(u)"), 0.5);
}

TEST(Limit, ActsOnVariablesInTextOrder) {
  const std::string text = oscillator(
      "x' = x\nlimit x = min(x, 3)\nlimit x = x - 0.125 if x > 2 else x\ninit x = 0.5", "euler");
  EXPECT_NEAR(ends_at(text),
              stepped(0.5, 0,
                      [](double& x, double&) {
                        x += kStep * x;
                        x = std::min(x, 3.0);
                        x = x > 2 ? x - 0.125 : x;
                      }),
              1e-13);
}

TEST(Limit, ActsOnTheDriftOfASymplecticStep) {
  const std::string wall = "x'' = -x\nlimit x = max(x, -0.3)\ninit x = 1, x' = 0";
  const auto force = [](double x) { return -x; };
  const auto limited = [](double x) { return std::max(x, -0.3); };
  const auto kick_drift_kick = [&](double& x, double& v, double h) {
    v += h / 2 * force(x);
    x = limited(x + h * v);
    v += h / 2 * force(x);
  };
  EXPECT_NEAR(ends_at(oscillator(wall, "leapfrog")),
              stepped(1, 0, [&](double& x, double& v) { kick_drift_kick(x, v, kStep); }), 1e-12);
  const double w1 = 1 / (2 - std::cbrt(2.0)), w0 = 1 - 2 * w1;
  EXPECT_NEAR(ends_at(oscillator(wall, "yoshida4")),
              stepped(1, 0,
                      [&](double& x, double& v) {
                        for (const double w : {w1, w0, w1}) kick_drift_kick(x, v, w * kStep);
                      }),
              1e-12);
}

TEST(Limit, HalfDriftsThatMeetAreLimitedOneByOne) {
  const std::string text =
      "integrator drift_first(x' = V(v), v' = F(x)) {\n  x = x + dt/2*V(v)\n  v = v + dt*F(x)\n"
      "  x = x + dt/2*V(v)\n}\nx'' = -x\nlimit x = x - 0.01*x^3\ninit x = 1, x' = 0";
  const auto limited = [](double x) { return x - 0.01 * x * x * x; };
  EXPECT_NEAR(ends_at(oscillator(text, "drift_first")),
              stepped(1, 0,
                      [&](double& x, double& v) {
                        x = limited(x + kStep / 2 * v);
                        v -= kStep * x;
                        x = limited(x + kStep / 2 * v);
                      }),
              1e-12);
}

TEST(Limit, ActsOnTheEndOfARungeKuttaStep) {
  const std::string text = oscillator("x' = x*(2 - x)\nlimit x = min(x, 1.5)\ninit x = 0.1", "rk4");
  const auto f = [](double x) { return x * (2 - x); };
  EXPECT_NEAR(ends_at(text),
              stepped(0.1, 0,
                      [&](double& x, double&) {
                        const double h = kStep, a = f(x), b = f(x + h / 2 * a),
                                     c = f(x + h / 2 * b), d = f(x + h * c);
                        x = std::min(x + h / 6 * (a + 2 * b + 2 * c + d), 1.5);
                      }),
              1e-13);
}

TEST(Limit, AWallReflectsWhatNoiseMoves) {
  // density exp(-2 x) on x > 0: mean 1/2
  const auto r = run_text(
      "model wall\nsweep path = 1..20000\nvar x: real\nx' = -1 + noise\nlimit x = abs(x)\n"
      "init x = 0.5\nrandom philox, seed = 5\nevolve euler_maruyama, dt = 0.001, until = t >= 6\n"
      "at end: m = mean(x, over = path), low = min(x, over = path) -> \"wall.h5\"\n",
      {});
  EXPECT_NEAR(last(r, "m"), 0.5, 0.02);
  EXPECT_GE(last(r, "low"), 0);
}

TEST(Limit, ComponentsOfAVectorActAtOnce) {
  const auto r = run_text(
      "model spin\nlattice line: 16, length = 16, boundary = periodic\nfield n: vec(3)\n"
      "n' = cross(n, [0.3, 0.1, 1]) + 0.2*lap(n)\nlimit n = n/norm(n)\n"
      "init n = [cos(0.3*x), sin(0.3*x), 0.2]\nevolve heun, dt = 0.05, until = t > 4\n"
      "every 20 steps: low = min(norm(n)), high = max(norm(n)) -> \"spin.h5\"\n",
      {});
  EXPECT_NEAR(last(r, "low"), 1, 1e-14);
  EXPECT_NEAR(last(r, "high"), 1, 1e-14);
}

TEST(Limit, ActsOnParticles) {
  const auto r = run_text(
      "model box\nparticles body: 64\nvar x[k]: real, v[k]: real\nx[k]' = v[k]\nv[k]' = -1\n"
      "limit x = max(x, 0)\ninit x = 1, v = 0\nevolve euler, dt = 0.125, until = t >= 4\n"
      "every 8 steps: low = min(x), high = max(x), mean(v) -> \"box.h5\"\n",
      {});
  EXPECT_DOUBLE_EQ(last(r, "low"), 0);
  EXPECT_DOUBLE_EQ(last(r, "high"), 0);
  EXPECT_DOUBLE_EQ(last(r, "mean(v)"), -4);
}

TEST(Limit, StopsWhereARunHasEnded) {
  // a limit that would go on shrinking the first instance while the second still runs
  const auto r = run_text(
      "model ends\nsweep a = [4, 1]\nvar x: real\nx' = a\nlimit x = 0.5*x\ninit x = 8\n"
      "evolve euler, dt = 0.5, until = x < 2.1 or t >= 8\nat end: x -> \"ends.h5\"\n",
      {});
  const runtime::Series* x = r.find("x");
  ASSERT_NE(x, nullptr);
  for (const auto& [a, instance] : {std::pair(4.0, 0), std::pair(1.0, 1)}) {
    double expected = 8;
    for (double t = 0.5; t <= 8; t += 0.5) {
      expected = 0.5 * (expected + 0.5 * a);
      if (expected < 2.1) break;
    }
    EXPECT_NEAR(x->values.back()[static_cast<std::size_t>(instance)], expected, 1e-13) << a;
  }
}

TEST(Limit, ANormOfTheWholeLatticeInImaginaryTime) {
  // Gross-Pitaevskii, a trap in two dimensions, g = 100; mu of the ground state is 5.76
  constexpr int n = 32, steps = 1500;
  constexpr double side = 14, dx = side / n, dt = 0.01;
  const auto r = run_text(
      "model trap\nlattice box: 32^2, length = 14, boundary = periodic\nfield psi: complex\n"
      "psi' = lap(psi)/2 - (x^2 + y^2)/2*psi - 100*norm2(psi)*psi\n"
      "limit psi = psi/sqrt(total(norm2(psi))*dx^2)\ninit psi = exp(-(x^2 + y^2)/8)/10\n"
      "evolve euler, dt = 0.01, until = t > 14.995\n"
      "N = total(norm2(psi))*dx^2\n"
      "mu = total(-re(conj(psi)*lap(psi))/2 + (x^2 + y^2)/2*norm2(psi) + 100*norm2(psi)^2)*dx^2\n"
      "at end: N, mu -> \"trap.h5\"\n",
      {});
  std::vector<double> u(n * n), next(n * n);
  const auto coordinate = [&](int i) { return (i - (n - 1) / 2.0) * dx; };
  const auto at = [&](int i, int j) {
    return u[static_cast<std::size_t>((i + n) % n * n + (j + n) % n)];
  };
  const auto radius2 = [&](int i, int j) {
    return coordinate(i) * coordinate(i) + coordinate(j) * coordinate(j);
  };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      u[static_cast<std::size_t>(i * n + j)] = std::exp(-radius2(i, j) / 8) / 10;
  const auto hamiltonian = [&](int i, int j) {
    const double laplacian =
        (at(i + 1, j) + at(i - 1, j) + at(i, j + 1) + at(i, j - 1) - 4 * at(i, j)) / (dx * dx);
    return -laplacian / 2 + (radius2(i, j) / 2 + 100 * at(i, j) * at(i, j)) * at(i, j);
  };
  for (int step = 0; step < steps; ++step) {
    double norm = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double value = at(i, j) - dt * hamiltonian(i, j);
        next[static_cast<std::size_t>(i * n + j)] = value;
        norm += value * value * dx * dx;
      }
    for (std::size_t k = 0; k < u.size(); ++k) u[k] = next[k] / std::sqrt(norm);
  }
  double mu = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) mu += at(i, j) * hamiltonian(i, j) * dx * dx;
  EXPECT_NEAR(last(r, "N"), 1, 1e-13);
  EXPECT_NEAR(last(r, "mu"), mu, 1e-10);
  EXPECT_NEAR(mu, 5.76, 0.03);
}

}  // namespace
}  // namespace vphi::testing
