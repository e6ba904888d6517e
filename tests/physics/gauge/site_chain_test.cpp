// Markov chains of fields at sites, alone and beside links: orders in the step, exact averages by
// sums over momenta and by transfer matrices, Schwinger's and Dyson's identity, devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "compiler/interpret/interpret.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

bool native() { return testing::device("native") != nullptr; }

struct Model {
  std::string fields, actions;
  std::string lattice = "4^2";
  std::string levels = "level S: steps = 10, scheme = omelyan2";
  std::string start = "init phi ~ normal";
  std::string measured = {};
  int trajectories = 1, skip = 0;

  std::string text() const {
    return "model chain \"fields at sites\"\nlattice grid: " + lattice + "\n" + fields + "\n" +
           actions + "\nsample hmc, trajectories = " + std::to_string(trajectories) +
           ", tau = 1 {\n  " + levels + "\n}\n" + start +
           "\nevery 1 trajectory, after = trajectory > " + std::to_string(skip) +
           ": deltaH, creutz = exp(-deltaH)" + measured + " -> \"c.csv\"\n";
  }
};

// ---- orders -------------------------------------------------------------------------------------

struct Ordered {
  const char* name;
  Model model;
  int steps = 64;
};

class SiteTrajectory : public ::testing::TestWithParam<Ordered> {};

// deltaH of one draw for n and 2n steps, times n^2: one number, where forces are those of H.
TEST_P(SiteTrajectory, ErrorsFallWithTheSquareOfTheStep) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto scaled = [&](int n) {
    Model model = GetParam().model;
    for (std::size_t at; (at = model.levels.find('N')) != std::string::npos;)
      model.levels.replace(at, 1, std::to_string(n));
    return testing::last(testing::run_text(model.text(), {}), "deltaH") * n * n;
  };
  const int n = GetParam().steps;
  const double once = scaled(n), twice = scaled(2 * n);
  EXPECT_NEAR(twice / once, 1, 0.02);
  EXPECT_GT(std::fabs(once), 1e-3);
}

const std::string kOne = "level S: steps = N, scheme = omelyan2";
const std::string kHot = "init U ~ hot, phi ~ normal";

INSTANTIATE_TEST_SUITE_P(
    Actions, SiteTrajectory,
    ::testing::Values(
        Ordered{"quartic",
                {"field phi: real", "action S = sum((phi@k - phi)^2/2, k) + phi^2/4 + phi^4/2",
                 "4*3*5", kOne}},
        Ordered{"gradient",
                {"field phi: complex",
                 "action S = norm2(phi)^2/2 + norm2(phi@(1,0) - phi) + norm2(phi@(0,1) - phi)",
                 "4^2", kOne}},
        Ordered{"angles",
                {"field phi: angle", "action S = -1.5*sum(cos(phi@k - phi), k)", "6^2", kOne,
                 "init phi ~ uniform(0, 2*pi)"}},
        Ordered{
            "vectors_and_two_fields",
            {"field phi: vec(3), chi: real",
             "action S = norm2(phi) + chi^2/2 + 0.3*chi^2*norm2(phi) - 0.4*sum(dot(phi, phi@k), k)",
             "4^2", kOne, "init phi ~ normal, chi ~ normal"}},
        // links and doublets, in one action and in two levels
        Ordered{"doublet",
                {"gauge U: SU(2)\nfield phi: vec(2, complex)",
                 "action S = sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu) + norm2(phi) + "
                 "0.1*(norm2(phi) - 1)^2 - 0.4*sum(re(dot(phi, U[mu]*phi@mu)), mu)",
                 "3*4*2", kOne, kHot}},
        Ordered{"two_levels",
                {"gauge U: SU(2)\nfield phi: vec(2, complex)",
                 "action S = norm2(phi) + 0.1*(norm2(phi) - 1)^2 - "
                 "0.4*sum(re(dot(phi, U[mu]*phi@mu)), mu)\n"
                 "action T = sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)",
                 "4^2",
                 "level T: steps = N, scheme = omelyan2\n  level S: steps = 2, scheme = omelyan2",
                 kHot}},
        Ordered{"triplet",
                {"gauge U: SU(3), store = rows(2)\nfield phi: vec(3, complex)",
                 "action S = sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu) + norm2(phi) - "
                 "0.3*sum(re(dot(phi, U[mu]*phi@mu)), mu)",
                 "3^2", kOne, kHot}},
        Ordered{"charge_two",
                {"gauge U: U(1)\nfield phi: complex",
                 "action S = sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu) + norm2(phi)^2 - "
                 "0.5*sum(re(conj(phi)*U[mu]*U[mu]*phi@mu), mu)",
                 "4^2", kOne, kHot}},
        // no matter, but no sum of traces either
        Ordered{"adjoint",
                {"gauge U: SU(2)",
                 "action S = sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu) - "
                 "0.3*sum(abs(tr(loop(mu, nu, -mu, -nu)))^2, mu < nu)",
                 "4^2", kOne, "init U ~ hot"}},
        // a coupling that is a field: the place of each loop counts
        Ordered{"dilaton",
                {"gauge U: SU(2)\nfield phi: real",
                 "action S = phi^2*(1 + sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)/4) + "
                 "phi@x^2*re(2 - tr(loop(x, y, -x, -y)))/5",
                 "4^2", kOne, kHot}}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- averages -----------------------------------------------------------------------------------

/// Within four standard errors, which are below `most`; <exp(-deltaH)> is 1.
void expect_average(const runtime::RunResult& result, const std::string& name, double exact,
                    double most) {
  const auto average = [&](const std::string& of) {
    for (const auto& series : result.chain)
      if (series.name == of) return series.average;
    throw std::runtime_error("no " + of);
  };
  EXPECT_NEAR(average(name).mean, exact, 4 * average(name).error) << name;
  EXPECT_LT(average(name).error, most) << name;
  EXPECT_NEAR(average("creutz").mean, 1, 4 * average("creutz").error + 1e-4) << name;
}

constexpr double kPi = std::numbers::pi;

TEST(SiteChain, FreeFieldIsTheSumOverMomenta) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{"field phi: real", "action S = norm2(grad(phi))/2 + 0.25*phi^2", "8*6",
              "level S: steps = 7, scheme = omelyan2"};
  model.measured = ", square = mean(phi^2), next = mean(phi*phi@x)";
  model.trajectories = 6000, model.skip = 100;
  const auto result = testing::run_text(model.text(), {});
  double square = 0, next = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 6; ++j) {
      const double p = 2 * kPi * i / 8, q = 2 * kPi * j / 6;
      const double g = 1 / (0.5 + 4 - 2 * std::cos(p) - 2 * std::cos(q)) / 48;
      square += g;
      next += g * std::cos(p);
    }
  expect_average(result, "square", square, 0.004);
  expect_average(result, "next", next, 0.004);
}

TEST(SiteChain, AnglesOnARing) {
  if (!native()) GTEST_SKIP() << "no native device";
  constexpr int kSites = 8;
  constexpr double kCoupling = 1.5;
  Model model{"field phi: angle", "action S = -1.5*cos(phi@x - phi)", "8",
              "level S: steps = 6, scheme = omelyan2", "init phi ~ uniform(0, 2*pi)"};
  model.measured = ", c = mean(cos(phi@x - phi)), low = min(phi), high = max(phi)";
  model.trajectories = 8000, model.skip = 100;
  const auto result = testing::run_text(model.text(), {});
  // Z = sum_n I_n(K)^sites
  double z = 0, sum = 0;
  for (int n = -40; n <= 40; ++n) {
    const auto bessel = [](int k) { return std::cyl_bessel_i(std::abs(k), kCoupling); };
    z += std::pow(bessel(n), kSites);
    sum += std::pow(bessel(n), kSites - 1) * (bessel(n - 1) + bessel(n + 1)) / 2;
  }
  expect_average(result, "c", sum / z, 0.006);
  for (const auto& [step, low] : result.find("low")->points) EXPECT_GE(low, 0);
  for (const auto& [step, high] : result.find("high")->points) EXPECT_LE(high, 2 * kPi);
}

/// Unit vectors as directions of vectors whose lengths are free and independent of them.
TEST(SiteChain, UnitVectorsOnARing) {
  if (!native()) GTEST_SKIP() << "no native device";
  constexpr int kSites = 8;
  constexpr double kCoupling = 2;
  Model model{"field v: vec(3)\ne = v/sqrt(norm2(v))", "action S = norm2(v)/2 - 2*dot(e, e@x)", "8",
              "level S: steps = 20, scheme = omelyan2", "init v ~ normal"};
  model.measured = ", bond = mean(dot(e, e@x))";
  model.trajectories = 8000, model.skip = 100;
  const auto result = testing::run_text(model.text(), {});
  // Z = sum_l (2 l + 1) i_l(K)^sites, and (2 l + 1) i_l' = l i_(l-1) + (l + 1) i_(l+1)
  const auto bessel = [](int l) {
    return std::sqrt(kPi / (2 * kCoupling)) * std::cyl_bessel_i(l + 0.5, kCoupling);
  };
  double z = 0, sum = 0;
  for (int l = 0; l <= 30; ++l) {
    z += (2 * l + 1) * std::pow(bessel(l), kSites);
    const double below = l > 0 ? l * bessel(l - 1) : 0;
    sum += std::pow(bessel(l), kSites - 1) * (below + (l + 1) * bessel(l + 1));
  }
  EXPECT_NEAR(sum / z, 0.543933, 1e-6);
  expect_average(result, "bond", sum / z, 0.012);
}

/// A ring of sites with weights w(i) and links T(i, j): traces of powers of the transfer matrix.
struct Ring {
  std::vector<std::vector<double>> t;
  using Matrix = std::vector<std::vector<double>>;
  static Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c(a.size(), std::vector<double>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < a.size(); ++k)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += a[i][k] * b[k][j];
    return c;
  }
  /// tr(T^(n-1) A)/tr(T^n)
  double average(int n, const Matrix& a) const {
    Matrix power = t;
    for (int i = 2; i < n; ++i) power = product(power, t);
    const auto trace = [&](const Matrix& by) {
      double sum = 0;
      for (std::size_t i = 0; i < t.size(); ++i)
        for (std::size_t j = 0; j < t.size(); ++j) sum += power[i][j] * by[j][i];
      return sum;
    };
    return trace(a) / trace(t);
  }
};

TEST(SiteChain, QuarticFieldOnARing) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{"field phi: real", "action S = (phi@x - phi)^2/2 - phi^2/2 + phi^4/2", "6",
              "level S: steps = 8, scheme = omelyan2"};
  model.measured = ", square = mean(phi^2), next = mean(phi*phi@x)";
  model.trajectories = 8000, model.skip = 100;
  const auto result = testing::run_text(model.text(), {});
  constexpr int kPoints = 100;
  constexpr double kEdge = 4;
  const auto point = [](int i) { return kEdge * (2 * (i + 0.5) / kPoints - 1); };
  Ring ring{Ring::Matrix(kPoints, std::vector<double>(kPoints))};
  Ring::Matrix square = ring.t, next = ring.t;
  const auto site = [](double u) { return -u * u / 2 + u * u * u * u / 2; };
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      const double u = point(i), v = point(j);
      ring.t[i][j] = std::exp(-(u - v) * (u - v) / 2 - (site(u) + site(v)) / 2);
      square[i][j] = ring.t[i][j] * u * u;
      next[i][j] = ring.t[i][j] * u * v;
    }
  expect_average(result, "square", ring.average(6, square), 0.006);
  expect_average(result, "next", ring.average(6, next), 0.008);
}

// Doublets rho on a ring, each link integrated: 2 I_1(z)/z with z = 2 kappa rho rho'.
TEST(SiteChain, DoubletsAndLinksOnARing) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{"param kappa = 0.6, lambda = 0.5\ngauge U: SU(2)\nfield phi: vec(2, complex)",
              "hop = re(dot(phi, U[x]*phi@x))\n"
              "action S = norm2(phi) + lambda*(norm2(phi) - 1)^2 - 2*kappa*hop",
              "4", "level S: steps = 8, scheme = omelyan2", kHot};
  model.measured = ", square = mean(norm2(phi)), link = mean(hop)";
  model.trajectories = 12000, model.skip = 100;
  const auto result = testing::run_text(model.text(), {});
  constexpr int kPoints = 120;
  constexpr double kEdge = 3.6, kKappa = 0.6, kLambda = 0.5;
  Ring ring{Ring::Matrix(kPoints, std::vector<double>(kPoints))};
  Ring::Matrix square = ring.t, link = ring.t;
  const auto site = [](double r) {
    return r * r + kLambda * (r * r - 1) * (r * r - 1) - 3 * std::log(r);
  };
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      const double r = kEdge * (i + 0.5) / kPoints, s = kEdge * (j + 0.5) / kPoints;
      const double z = 2 * kKappa * r * s, one = std::cyl_bessel_i(1, z);
      ring.t[i][j] = std::exp(-(site(r) + site(s)) / 2) * 2 * one / z;
      square[i][j] = ring.t[i][j] * r * r;
      link[i][j] = ring.t[i][j] * r * s * std::cyl_bessel_i(2, z) / one;
    }
  expect_average(result, "square", ring.average(4, square), 0.008);
  expect_average(result, "link", ring.average(4, link), 0.008);
}

// For any couplings <phi dS/dphi> is the number of components of phi at a site.
TEST(SiteChain, SchwingerAndDyson) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{
      "param beta = 3, kappa = 0.25, lambda = 0.1\ngauge U: SU(2)\n"
      "field phi: vec(2, complex)",
      "hop = sum(re(dot(phi, U[mu]*phi@mu)), mu)\n"
      "action T = beta/2*sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
      "action S = norm2(phi) + lambda*(norm2(phi) - 1)^2 - 2*kappa*hop",
      "4^2", "level S: steps = 4, scheme = omelyan2\n  level T: steps = 2, scheme = omelyan2",
      kHot};
  model.measured =
      ", four = mean(2*norm2(phi) + 4*lambda*norm2(phi)*(norm2(phi) - 1) - 4*kappa*hop)";
  model.trajectories = 6000, model.skip = 100;
  expect_average(testing::run_text(model.text(), {}), "four", 4, 0.02);
}

// ---- the rest -----------------------------------------------------------------------------------

TEST(SiteChain, DevicesAgree) {
  Model model{"gauge U: U(1)\nfield phi: complex",
              "action S = norm2(phi)^2 - 0.5*re(conj(phi)*U[x]*phi@x)", "6",
              "level S: steps = 3, scheme = omelyan2", kHot};
  model.trajectories = 3;
  const auto of = [&](const std::string& device) {
    testing::Simulation setup;
    setup.device = device;
    return testing::last(testing::run_text(model.text(), setup), "deltaH");
  };
  if (!native()) GTEST_SKIP() << "no native device";
  const double here = of("native");
  EXPECT_GT(std::fabs(here), 1e-6);
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  EXPECT_NEAR(of("opencl"), here, 1e-11);
}

/// Forwards, momenta turned round, forwards: fields and links of the start.
TEST(SiteChain, Reversible) {
  Model model{"gauge U: SU(2)\nfield phi: vec(2, complex)",
              "action S = norm2(phi)^2 - 0.4*sum(re(dot(phi, U[mu]*phi@mu)), mu) + "
              "sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)",
              "3^2", "level S: steps = 6, scheme = omelyan2", kHot};
  const Compilation compilation = testing::compile_text(model.text(), {});
  const program::Program& program = *compilation.program;
  kernel::Interpreter run(*compilation.plan);
  run.start();
  std::vector<program::Launch> first, flows;
  for (const program::Launch& launch : program.launches(0)) {
    const std::string& name = program.kernels[static_cast<std::size_t>(launch.kernel)].name;
    if (name == "refresh" || name == "energy_before") first.push_back(launch);
    if (name == "next_flow" || name == "drift" || name.starts_with("kick")) flows.push_back(launch);
  }
  run.launch(first);
  run.launch(flows);
  const auto gap = [&] {
    double most = 0;
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      const std::string& name = program.buffers[i].name;
      if (!name.starts_with("kept_")) continue;
      const auto place = static_cast<std::size_t>(std::stoi(name.substr(5)) - 1);
      const auto& now = run.buffer(program.state[place].buffer);
      const auto& then = run.buffer(static_cast<int>(i));
      for (std::size_t k = 0; k < now.size(); ++k)
        most = std::max(most, std::abs(now[k] - then[k]));
    }
    return most;
  };
  EXPECT_GT(gap(), 0.3);
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].name.starts_with("momentum"))
      for (double& p : run.buffer(static_cast<int>(i))) p = -p;
  run.set_scalar("flow", 0);
  run.launch(flows);
  EXPECT_LT(gap(), 1e-13);
}

}  // namespace
}  // namespace vphi
