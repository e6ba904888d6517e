// Linear systems: solutions against Fourier sums made here, rounds against a small CG made here,
// the three solvers, every device, and the message where there is no solution.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/run/session.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_text;
using testing::last;
using testing::run_program;
using testing::run_text;
using testing::Simulation;
using Complex = std::complex<double>;

const std::vector<std::string> kAxes = {"x", "y", "z", "t"};

/// No step: what is looked at is there at the start.
Simulation at_start(const std::string& device = "native") {
  Simulation setup;
  setup.device = device;
  setup.steps = 0;
  return setup;
}

std::string shape(const std::vector<int>& n) {
  std::string text;
  for (const int sites : n) text += (text.empty() ? "" : " * ") + std::to_string(sites);
  return text;
}

/// 1 at one site, 0 elsewhere.
std::string at_site(const std::vector<int>& site) {
  std::string text = "(1";
  for (std::size_t k = 0; k < site.size(); ++k)
    text += "*(index(" + kAxes[k] + ") == " + std::to_string(site[k]) + ")";
  return text + ")";
}

/// 1/V sum_k exp(i k.x)/symbol(k), for all k of the box.
template <typename Symbol>
Complex propagator(const std::vector<int>& n, const std::vector<int>& x, const Symbol& symbol) {
  Complex sum = 0;
  std::vector<int> mode(n.size());
  for (;;) {
    std::vector<double> k;
    double phase = 0;
    for (std::size_t a = 0; a < n.size(); ++a) {
      k.push_back(2 * std::numbers::pi * mode[a] / n[a]);
      phase += k[a] * x[a];
    }
    sum += std::polar(1.0, phase) / symbol(k);
    std::size_t a = 0;
    while (a < n.size() && ++mode[a] == n[a]) mode[a++] = 0;
    if (a == n.size()) break;
  }
  for (const int sites : n) sum /= sites;
  return sum;
}

std::string yukawa(const std::vector<int>& n, const std::string& solver) {
  return "model yukawa \"screened potential\"\n"
         "lattice box: " +
         shape(n) +
         ", spacing = 0.5, boundary = periodic\n"
         "laplacian = star2\n"
         "A(u) = 0.3*u - lap(u)\n"
         "phi = solve(A, " +
         at_site(std::vector<int>(n.size(), 1)) + ", solver = " + solver + ")\n";
}

class Yukawa : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(Yukawa, IsTheFourierSum) {
  const std::vector<int>& n = GetParam();
  std::vector<int> near(n.size(), 1), far(n.size(), 1);
  near[0] = 2;
  for (std::size_t k = 0; k < n.size(); ++k) far[k] = n[k] - 1;
  const auto result =
      run_text(yukawa(n, "cg(1e-13)") + "at end: zero = max(phi), near = total(phi*" +
                   at_site(near) + "), far = total(phi*" + at_site(far) +
                   "), rounds = iterations(phi), left = residual(phi) -> \"y.h5\"\n",
               at_start());
  const auto symbol = [](const std::vector<double>& k) {
    double sum = 0.3;
    for (const double one : k) sum += (2 - 2 * std::cos(one)) / 0.25;
    return sum;
  };
  const auto exact = [&](std::vector<int> x) {
    for (int& one : x) one -= 1;
    return propagator(n, x, symbol).real();
  };
  EXPECT_NEAR(last(result, "zero"), exact(std::vector<int>(n.size(), 1)), 1e-11);
  EXPECT_NEAR(last(result, "near"), exact(near), 1e-11);
  EXPECT_NEAR(last(result, "far"), exact(far), 1e-11);
  EXPECT_LT(last(result, "left"), 2e-13);
  EXPECT_GT(last(result, "rounds"), 4);
}

INSTANTIATE_TEST_SUITE_P(Boxes, Yukawa,
                         ::testing::Values(std::vector<int>{32}, std::vector<int>{12, 20},
                                           std::vector<int>{8, 6, 10}),
                         [](const auto& test) { return std::to_string(test.param.size()) + "D"; });

class Hopping : public ::testing::TestWithParam<const char*> {};

// (4 + 0.7i) u - exp(0.3i) u@x - u@-x/2 - 0.8i u@y: far from hermitian.
TEST_P(Hopping, IsTheFourierSum) {
  const std::vector<int> n{12, 10};
  const auto result = run_text(
      "model hopping \"a phase in one direction\"\n"
      "lattice box: 12 * 10, spacing = 1, boundary = periodic\n"
      "A(u) = (4 + 0.7i)*u - exp(0.3i)*u@x - u@-x/2 - 0.8i*u@y\n"
      "b = (2 - 1i)*" +
          at_site({0, 0}) + "\nphi = solve(A, b, solver = " + GetParam() +
          "(1e-13))\n"
          "at end: re0 = total(re(phi)*" +
          at_site({0, 0}) + "), im0 = total(im(phi)*" + at_site({0, 0}) +
          "), re1 = total(re(phi)*" + at_site({3, 2}) + "), im1 = total(im(phi)*" +
          at_site({3, 2}) + "), left = residual(phi) -> \"h.h5\"\n",
      at_start());
  const auto symbol = [](const std::vector<double>& k) {
    const Complex i(0, 1);
    return Complex(4, 0.7) - std::polar(1.0, 0.3) * std::exp(i * k[0]) - std::exp(-i * k[0]) / 2.0 -
           0.8 * i * std::exp(i * k[1]);
  };
  const Complex zero = Complex(2, -1) * propagator(n, {0, 0}, symbol);
  const Complex far = Complex(2, -1) * propagator(n, {3, 2}, symbol);
  EXPECT_NEAR(last(result, "re0"), zero.real(), 1e-12);
  EXPECT_NEAR(last(result, "im0"), zero.imag(), 1e-12);
  EXPECT_NEAR(last(result, "re1"), far.real(), 1e-12);
  EXPECT_NEAR(last(result, "im1"), far.imag(), 1e-12);
  EXPECT_LT(last(result, "left"), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Solvers, Hopping, ::testing::Values("cgne", "bicgstab"),
                         [](const auto& test) { return std::string(test.param); });

/// Rounds of conjugate gradients for (0.3 - lap) u = b on a ring, until |r| <= tol*|b|.
int iterations_of_cg(std::vector<double> b, double tol) {
  const std::size_t n = b.size();
  std::vector<double> r = b, p = b, q(n);
  const auto dot = [&](const auto& u, const auto& v) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += u[i] * v[i];
    return sum;
  };
  const double all = dot(b, b);
  double rr = all;
  int rounds = 0;
  for (; rr > tol * tol * all; ++rounds) {
    for (std::size_t i = 0; i < n; ++i)
      q[i] = 0.3 * p[i] - (p[(i + 1) % n] - 2 * p[i] + p[(i + n - 1) % n]) / 0.25;
    const double alpha = rr / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    const double next = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rr * p[i];
    rr = next;
  }
  return rounds;
}

TEST(Solve, TakesAsManyRoundsAsTheMethod) {
  const std::string model =
      "model rounds \"a ring\"\n"
      "lattice ring: 64, spacing = 0.5, boundary = periodic\n"
      "laplacian = star2\n"
      "A(u) = 0.3*u - lap(u)\n"
      "phi = solve(A, sin(index(x)^2), solver = cg(TOL))\n"
      "at end: rounds = iterations(phi), left = residual(phi) -> \"r.h5\"\n";
  std::vector<double> b;
  for (int i = 0; i < 64; ++i) b.push_back(std::sin(static_cast<double>(i) * i));
  for (const auto& [text, tol] : {std::pair{"1e-3", 1e-3}, {"1e-6", 1e-6}, {"1e-9", 1e-9}}) {
    std::string own = model;
    own.replace(own.find("TOL"), 3, text);
    const auto result = run_text(own, at_start());
    EXPECT_EQ(last(result, "rounds"), iterations_of_cg(b, tol)) << text;
    EXPECT_LE(last(result, "left"), tol * (1 + 1e-6)) << text;
  }
}

TEST(Solve, ARoundOfCgIsThreeKernels) {
  const auto compiled = compile_text(
      yukawa({8, 8, 8}, "cg(1e-10)") + "at end: a = total(phi) -> \"y.h5\"\n", at_start());
  ASSERT_TRUE(compiled.program);
  ASSERT_EQ(compiled.program->solves.size(), 1u);
  EXPECT_LE(compiled.program->solves[0].iterate.size(), 3u);
  for (const auto& launch : compiled.program->solves[0].iterate) EXPECT_TRUE(launch.swap.empty());
}

TEST(Solve, OpenClGivesTheSame) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL here";
  const std::string text = yukawa({8, 6, 10}, "cg(1e-12)") +
                           "at end: a = max(phi), b = total(phi*x), rounds = iterations(phi) -> "
                           "\"y.h5\"\n";
  const auto native = run_text(text, at_start());
  const auto opencl = run_text(text, at_start("opencl"));
  EXPECT_NEAR(last(native, "a"), last(opencl, "a"), 1e-12);
  EXPECT_NEAR(last(native, "b"), last(opencl, "b"), 1e-10);
  EXPECT_EQ(last(native, "rounds"), last(opencl, "rounds"));
}

TEST(Solve, EachInstanceOfASweepHasItsOwnRounds) {
  const auto result = run_text(
      "model masses \"one solution for each mass\"\n"
      "sweep m = [0.1, 1, 10]\n"
      "lattice ring: 48, spacing = 1, boundary = periodic\n"
      "A(u) = m*u - lap(u)\n"
      "phi = solve(A, 1.0*(index(x) == 7), solver = cg(1e-12))\n"
      "at end: s = total(phi)*m, rounds = iterations(phi) -> \"m.csv\"\n"
      "expect abs(total(phi)*m - 1) < 1e-10\n",
      at_start());
  EXPECT_TRUE(result.all_expected());
}

TEST(Solve, NoSourceIsNoRound) {
  const auto result = run_text(
      "model nothing \"no source\"\nlattice ring: 16, spacing = 1, boundary = periodic\n"
      "A(u) = u - lap(u)\nphi = solve(A, 0*x, solver = cg(1e-12))\n"
      "at end: a = max(abs(phi)), rounds = iterations(phi), left = residual(phi) -> \"n.h5\"\n",
      at_start());
  EXPECT_EQ(last(result, "a"), 0);
  EXPECT_EQ(last(result, "rounds"), 0);
  EXPECT_EQ(last(result, "left"), 0);
}

/// Code and text of the error that a run ends with.
std::string failure(const std::string& op, const std::string& solver) {
  try {
    run_text(
        "model bad \"no solution\"\nlattice ring: 16, spacing = 1, boundary = periodic\n"
        "A(u) = " +
            op + "\nphi = solve(A, 1.0*(index(x) == 3), solver = " + solver +
            ")\nat end: a = max(phi) -> \"b.h5\"\n",
        at_start());
  } catch (const runtime::RunError& error) {
    return error.code + ": " + error.what();
  }
  return "";
}

TEST(Solve, WhatHasNoSolutionIsSaid) {
  const std::string few = failure("0.01*u - lap(u)", "cg(1e-12, max = 3)");
  EXPECT_TRUE(few.starts_with("E0809: ")) << few;
  EXPECT_NE(few.find("is not solved after 3 iterations of `cg`"), std::string::npos) << few;
  EXPECT_NE(few.find("line 4"), std::string::npos) << few;
  const std::string zero = failure("u - u@x + u@-x - u", "cg(1e-12, hermitian = 0)");
  EXPECT_TRUE(zero.starts_with("E0809: ")) << zero;
  EXPECT_NE(zero.find("broke down in iteration"), std::string::npos) << zero;
}

// A solution that was found is not touched by what is queued after it: the same numbers whether
// the host looks after every round or not.
TEST(Solve, MovingStateGivesTheOperator) {
  const auto result = run_text(
      "model moving \"the operator follows the field\"\n"
      "lattice ring: 32, spacing = 1, boundary = periodic\n"
      "field chi: real\n"
      "chi'' = lap(chi) - chi\n"
      "init chi = 0.1*cos(2*pi*index(x)/32), chi' = 0\n"
      "evolve leapfrog, dt = 0.1, until = t > 1\n"
      "A(u) = (1 + chi^2)*u - lap(u)\n"
      "phi = solve(A, chi, solver = cg(1e-12))\n"
      "every 5 steps: check = max(abs((1 + chi^2)*phi - lap(phi) - chi)), size = max(phi), "
      "again = residual(phi) -> \"c.h5\"\n",
      {});
  const auto* check = result.find("check");
  ASSERT_NE(check, nullptr);
  EXPECT_GE(check->points.size(), 3u);
  for (const auto& [time, value] : check->points) EXPECT_LT(value, 1e-12) << time;
  EXPECT_GT(last(result, "size"), 1e-3);
}

// ---- a staggered operator ----------------------------------------------------------------------

/// On unit links D = m + sum of the central differences with the signs of Kawamoto and Smit: D+ D
/// is m^2 - (sum of squared differences), diagonal in momenta.
std::string staggered(const std::string& field) {
  return "model staggered\nlattice grid: 4^3*8\ngauge U: SU(3)\n" + field +
         "param m = 0.5\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
         "eta(mu) = 1 if mu == x else (-1)^index(x) if mu == y else "
         "(-1)^(index(x) + index(y)) if mu == z else (-1)^(index(x) + index(y) + index(z))\n"
         "D(chi) = m*chi + sum(eta(mu)*(U[mu]*chi@mu - adj(U[mu]@-mu)*chi@-mu), mu)/2\n"
         "action S = 5.7/3*sum(3 - re(tr(P[mu,nu])), mu < nu)\n"
         "sample heatbath, sweeps = 2\ninit U ~ hot\nprecision real = f64\n"
         "b = [1, 0, 0]*(index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0)\n"
         "G = solve(D, b, solver = cgne(1e-10))\n"
         "every 1 sweep: total(norm2(G)), total(norm2(D(G) - b)), m*total(norm2(G)) - "
         "re(total(dot(b, G))) -> \"s.h5\"\n";
}

// The field only names the argument, as a spinor does. b^+ G = m |G|^2 for an operator that is m
// plus an antihermitian one.
TEST(Staggered, AFieldMayNameTheArgument) {
  const auto without = testing::run_text(staggered(""), {});
  const auto with = testing::run_text(staggered("field chi: vec(3, complex)\n"), {});
  ASSERT_EQ(without.scalars.size(), 3u);
  ASSERT_EQ(with.scalars.size(), 3u);
  EXPECT_EQ(with.scalars[0].second, without.scalars[0].second);
  EXPECT_LT(with.scalars[1].second, 1e-18);
  EXPECT_LT(std::abs(with.scalars[2].second), 1e-9);
  EXPECT_GT(with.scalars[0].second, 0.1);
}

TEST(Staggered, AFieldThatIsReadHasAnEquation) {
  EXPECT_ANY_THROW(
      testing::compile_text(staggered("field chi: vec(3, complex)\nn = norm2(chi)\n"), {}));
}

}  // namespace
}  // namespace vphi
