// Hybrid Monte Carlo: orders of its integrators, reversibility, <exp(-deltaH)> = 1, exact averages
// in two dimensions (docs/formulas.md 2.7), nested levels, loops of any shape, precision, devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/interpret/interpret.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

constexpr const char* kPlaquettes =
    "action S = -beta/n*sum(re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n";

struct Model {
  std::string gauge = "SU(2)", lattice = "4^3";
  int n = 2;
  std::string actions = kPlaquettes;
  std::string levels = "level S: steps = 10, scheme = omelyan2";
  double beta = 2, tau = 1;
  int trajectories = 1;
  std::string more = {};

  std::string text() const {
    return "model hmc \"trajectories\"\nparam beta = " + testing::exact(beta) +
           ", n = " + std::to_string(n) + "\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\n" + actions + "sample hmc, trajectories = " + std::to_string(trajectories) +
           ", tau = " + testing::exact(tau) + " {\n  " + levels + "\n}\ninit U ~ hot\n" +
           "every 1 trajectory: q = mean(re(tr(loop(mu, nu, -mu, -nu)))/n, mu < nu), deltaH, "
           "accept -> \"hmc.csv\"\n" +
           more;
  }
};

double delta(const Model& model, const Simulation& setup = {}) {
  return testing::last(testing::run_text(model.text(), setup), "deltaH");
}

/// deltaH of the same momenta for n and 2n steps, times n^order: one number.
void expect_plateau(Model model, const std::string& scheme, int order, int steps, double within) {
  const auto scaled = [&](int n) {
    model.levels = "level S: steps = " + std::to_string(n) + ", scheme = " + scheme;
    return delta(model) * std::pow(n, order);
  };
  EXPECT_NEAR(scaled(2 * steps) / scaled(steps), 1, within) << model.gauge << " " << scheme;
}

TEST(Hmc, OrdersOfTheIntegrators) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const Model u1{.gauge = "U(1)", .lattice = "6^2", .n = 1};
  expect_plateau(u1, "omelyan2", 2, 20, 0.02);
  expect_plateau(u1, "position_verlet", 2, 20, 0.02);
  expect_plateau(u1, "yoshida4", 4, 20, 0.05);
  expect_plateau({}, "leapfrog", 2, 20, 0.02);
}

TEST(Hmc, Groups) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  expect_plateau({}, "omelyan2", 2, 20, 0.02);
  expect_plateau({.gauge = "SU(3), store = rows(2)", .lattice = "4^2", .n = 3, .beta = 5.7},
                 "omelyan2", 2, 20, 0.02);
  expect_plateau({.gauge = "SU(4)", .lattice = "3^2", .n = 4, .beta = 8}, "omelyan2", 2, 20, 0.02);
}

/// Rectangles in three dimensions, whose products of two links are kept.
TEST(Hmc, KeptProducts) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const Model model{
      .lattice = "3^3",
      .actions = "action S = -0.4*beta/n*sum(re(tr(loop(i, i, j, -i, -i, -j))), i != j)\n"};
  Simulation setup;
  const Compilation compilation = testing::compile_text(model.text(), setup);
  const auto& kernels = compilation.program->kernels;
  EXPECT_EQ(std::ranges::count_if(kernels,
                                  [](const auto& k) { return k.name.starts_with("product_S_"); }),
            3);
  expect_plateau(model, "omelyan2", 2, 20, 0.02);
}

/// Loops that no heatbath takes: twisted around an edge, twice around a plaquette, imaginary parts.
TEST(Hmc, AnyLoop) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const Model models[] = {
      {.actions = "action S = 0.7*sum(re(tr(loop(i, j, k, -i, -j, -k))), i < j, j < k)\n"},
      {.lattice = "4^2",
       .actions = "action S = -0.6*sum(re(tr(loop(i, j, -i, -j, i, j, -i, -j))), i < j)\n"},
      {.gauge = "SU(3)",
       .lattice = "4^2",
       .n = 3,
       .actions = "action S = 0.4*sum(im(tr(loop(i, i, j, -i, -i, -j))), i != j) - "
                  "sum(re(tr(loop(i, j, -i, -j))), i < j)\n"},
  };
  for (const Model& model : models) expect_plateau(model, "omelyan2", 2, 32, 0.03);
}

TEST(Hmc, LevelsShareTheAction) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  Model model{.actions =
                  "action A = -0.5*beta/n*sum(re(tr(loop(i, j, -i, -j))), i < j)\n"
                  "action B = -0.5*beta/n*sum(re(tr(loop(i, j, -i, -j))), i < j)\n"};
  const auto scaled = [&](int n) {
    model.levels = "level A: steps = " + std::to_string(n) +
                   ", scheme = omelyan2\n  level B: steps = 2, scheme = leapfrog";
    return delta(model) * n * n;
  };
  EXPECT_NEAR(scaled(32) / scaled(16), 1, 0.02);
  // one step inside, of the same scheme: the outer kicks and the inner ones together are the action
  model.levels = "level A: steps = 32, scheme = leapfrog\n  level B: steps = 1, scheme = leapfrog";
  const double nested = delta(model);
  Model plain{.levels = "level S: steps = 32, scheme = leapfrog"};
  EXPECT_NEAR(nested / delta(plain), 1, 1e-6);
}

/// Actions of one level are kicked as their sum is, whatever its scheme and its place.
TEST(Hmc, ActionsOfOneLevel) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string loops = "sum(re(tr(loop(i, j, -i, -j))), i < j)\n",
                    rectangles = "sum(re(tr(loop(i, i, j, -i, -i, -j))), i != j)\n";
  Model apart{.actions = "action A = -0.3*beta/n*" + loops + "action B = -0.7*beta/n*" + loops +
                         "action C = 0.05*beta/n*" + rectangles};
  Model sum{.actions = "action S = -beta/n*" + loops + "action C = 0.05*beta/n*" + rectangles};
  const std::string outer = ": steps = 4, scheme = omelyan2\n  level ",
                    inner = ": steps = 2, scheme = yoshida4";
  apart.levels = "level A, B" + outer + "C" + inner;
  sum.levels = "level S" + outer + "C" + inner;
  EXPECT_NEAR(delta(apart) / delta(sum), 1, 1e-9);
  apart.levels = "level C" + outer + "A, B" + inner;
  sum.levels = "level C" + outer + "S" + inner;
  EXPECT_NEAR(delta(apart) / delta(sum), 1, 1e-9);
}

/// Forwards, momenta turned round, forwards: the links of the start.
TEST(Hmc, Reversible) {
  Model model{.lattice = "3^3", .levels = "level S: steps = 6, scheme = omelyan2"};
  Simulation setup;
  const Compilation compilation = testing::compile_text(model.text(), setup);
  const program::Program& program = *compilation.program;
  kernel::Interpreter run(*compilation.plan);
  run.start();
  const std::vector<program::Launch> step = program.launches(0);
  std::vector<program::Launch> first, flows;
  for (const program::Launch& launch : step) {
    const std::string& name = program.kernels[static_cast<std::size_t>(launch.kernel)].name;
    if (name == "refresh" || name == "energy_before") first.push_back(launch);
    if (name == "next_flow" || name == "drift" || name.starts_with("kick")) flows.push_back(launch);
  }
  run.launch(first);
  run.launch(flows);
  double moved = 0, left = 0;
  const auto gap = [&] {
    double most = 0;
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      const std::string& name = program.buffers[i].name;
      if (!name.starts_with("kept_")) continue;
      const auto link = static_cast<std::size_t>(std::stoi(name.substr(5)) - 1);
      const auto& now = run.buffer(program.state[link].buffer);
      const auto& then = run.buffer(static_cast<int>(i));
      for (std::size_t k = 0; k < now.size(); ++k)
        most = std::max(most, std::abs(now[k] - then[k]));
    }
    return most;
  };
  moved = gap();
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].name.starts_with("momentum"))
      for (double& p : run.buffer(static_cast<int>(i))) p = -p;
  run.set_scalar("flow", 0);
  run.launch(flows);
  left = gap();
  EXPECT_GT(moved, 0.3);
  EXPECT_LT(left, 1e-13);
}

/// Averages of a chain, from the last of its promises.
struct Exact {
  const char* gauge;
  int n;
  double beta, plaquette;
  const char* levels;
};

TEST(Hmc, ExactPlaquettesInTwoDimensions) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const Exact cases[] = {
      {"U(1)", 1, 2, 0.6977746580, "level S: steps = 6, scheme = omelyan2"},
      {"SU(2)", 2, 4, 0.6580472674, "level S: steps = 6, scheme = omelyan2"},
      // a coarse step: half of the trajectories are not accepted
      {"SU(2)", 2, 4, 0.6580472674, "level S: steps = 3, scheme = leapfrog"},
      {"SU(3)", 3, 6, 0.4225317397, "level S: steps = 6, scheme = omelyan2"},
  };
  for (const Exact& c : cases) {
    Model model{.gauge = c.gauge,
                .lattice = "8^2",
                .n = c.n,
                .levels = c.levels,
                .beta = c.beta,
                .trajectories = 1500};
    model.more = "expect mean(exp(-deltaH)) == 1 within 4*sigma\n";
    const auto result = testing::run_text(model.text(), {});
    const auto column = [&](const std::string& name) {
      for (const runtime::Series& series : result.series)
        if (series.name == name) return series.points;
      throw std::runtime_error("no " + name);
    };
    const auto q = column("q"), dh = column("deltaH"), ok = column("accept");
    const auto binned = [&](const std::function<double(std::size_t)>& f) {
      constexpr int kBins = 20, kSkip = 100;
      const int size = (static_cast<int>(q.size()) - kSkip) / kBins;
      double sum = 0, squares = 0;
      for (int b = 0; b < kBins; ++b) {
        double bin = 0;
        for (int i = 0; i < size; ++i)
          bin += f(static_cast<std::size_t>(kSkip + b * size + i)) / size;
        sum += bin / kBins;
        squares += bin * bin / kBins;
      }
      return std::pair(sum, std::sqrt((squares - sum * sum) / (kBins - 1)));
    };
    const auto [plaquette, error] = binned([&](std::size_t i) { return q[i].second; });
    EXPECT_NEAR(plaquette, c.plaquette, 4 * error) << c.gauge;
    EXPECT_LT(error, 0.006) << c.gauge;
    const auto [one, width] = binned([&](std::size_t i) { return std::exp(-dh[i].second); });
    EXPECT_NEAR(one, 1, 4 * width) << c.gauge;
    const auto [accepted, spread] = binned([&](std::size_t i) { return ok[i].second; });
    const auto [square, unused] = binned([&](std::size_t i) { return std::pow(dh[i].second, 2); });
    // erfc(sigma(deltaH)/sqrt(8)) for a Gaussian (Gupta et al., Phys. Rev. D 38, 1278 (1988))
    EXPECT_NEAR(accepted, std::erfc(std::sqrt(square / 8)), 0.05 + 4 * spread) << c.gauge;
  }
}

TEST(Hmc, SinglePrecisionSumsInDouble) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  Model model{.lattice = "8^2"};
  const double wide = delta(model);
  Simulation single;
  single.precision = "f32";
  EXPECT_NEAR(delta(model, single), wide, 2e-3 * std::abs(wide) + 2e-3);
}

TEST(Hmc, OtherDevicesAgree) {
  if (!testing::device("native") || !testing::device("opencl")) GTEST_SKIP() << "one device only";
  Model model{.lattice = "4^2", .trajectories = 3};
  Simulation opencl;
  opencl.device = "opencl";
  EXPECT_NEAR(delta(model, opencl), delta(model), 1e-9);
}

// Steps so long that nothing is accepted: no error, no verdict, and a word about the cause.
TEST(Frozen, IsSaidAndDecidesNothing) {
  if (testing::device("native") == nullptr) GTEST_SKIP() << "no native device";
  const auto r = testing::run_text(R"(model frozen "trajectories that are all refused"
lattice grid: 4^4
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(tr(P[mu,nu]))/2, mu < nu)
action S = 2.3*sum(1 - re(tr(P[mu,nu]))/2, mu < nu)
sample hmc, trajectories = 60, tau = 3 {
  level S: steps = 2, scheme = leapfrog
}
init U ~ hot
every 1 trajectory: plaquette -> "f.h5"
at end: e = error(mean(plaquette, over = time)) -> "f.h5"
expect plaquette == 0.01495 within 4*sigma
)",
                                   {});
  // an average over time of it has no error either, not even that of rounding
  EXPECT_TRUE(std::isnan(testing::last(r, "e")));
  ASSERT_EQ(r.chain.size(), 2U);  // the plaquette, and what is asked at the end
  EXPECT_EQ(r.chain[0].average.known, observe::Known::Frozen);
  EXPECT_TRUE(std::isnan(r.chain[0].average.error));
  ASSERT_EQ(r.expectations.size(), 1U);
  EXPECT_FALSE(r.expectations[0].ok);
  EXPECT_EQ(r.expectations[0].undecided, "sigma is not known: all values of a chain are the same");
  EXPECT_TRUE(std::ranges::any_of(r.notes, [](const std::string& note) {
    return note.starts_with("no proposal was accepted in 60 trajectories");
  }));
}

/// A drift so long that the momenta's matrices have eigenvalues of 4 and more: the links stay in
/// their group, so that the way back leads to the start and H is kept, as without a force.
TEST(Hmc, LongDriftsStayInTheGroup) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const char* gauge : {"SU(2)", "SU(3)", "SU(4)"}) {
    const auto result = testing::run_text(
        std::string("model long\nlattice grid: 4^2\ngauge U: ") + gauge +
            "\naction S = 1e-9*sum(4 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
            "sample hmc, trajectories = 1, tau = 3 {\n  level S: steps = 1, scheme = leapfrog\n}\n"
            "init U ~ hot\nevery 1 trajectory: r = reversibility, deltaH -> \"l.csv\"\n",
        {});
    EXPECT_LT(testing::last(result, "r"), 1e-11) << gauge;
    EXPECT_LT(std::abs(testing::last(result, "deltaH")), 1e-6) << gauge;
  }
}

}  // namespace
}  // namespace vphi
