// Small systems of particles: many steps a launch give the numbers of a launch for each kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/run/session.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

// Both ends of a run lie amid a launch; averages begin there too.
const char* const kOscillators =
    "model oscillators\nparam T = 1, N = 150\nsweep K = [1, 4]\nsweep copy = 1..3\n"
    "particles osc: N\nvar x[i]: angle\nx[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]\n"
    "init x ~ uniform(0, 2*pi)\nevolve srk2, dt = 0.02, until = t > 0.61LAUNCH\n"
    "every EVERY steps, after = t > 0.11: mean(cos(x)), mean(sin(x)^2, over = [copy, time]) -> "
    "\"o.h5\"\n";
const char* const kMeanField =
    "model mean_field\nparam N = 333, T = 0.7\nparticles body: N\n"
    "var theta[k]: angle, p[k]: real\n"
    "H = sum(p[k]^2/2, k) + sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)\n"
    "init theta ~ uniform(0, 2*pi), p ~ sqrt(T)*normal\n"
    "evolve yoshida4, dt = 0.05, until = t > 1.3LAUNCH\n"
    "every EVERY steps: H, kinetic, mean(cos(theta)) -> \"m.h5\"\n";
const char* const kRing =
    "model ring\nparam N = 70, eps = 0.1\nsweep copy = 1..2\nparticles body: N\n"
    "var theta[k]: angle, p[k]: real\n"
    "H = sum(p[k]^2/2, k) - 1/(2*sqrt(2)*N)*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + eps), k, l)\n"
    "init theta ~ uniform(0, 2*pi), p ~ waterbag(0.5)\n"
    "evolve yoshida4, dt = 0.05, until = t > 0.8LAUNCH\n"
    "precision store = f64, pair = f32, sum = f64\n"
    "every EVERY steps: H, mean(cos(theta)) -> \"r.h5\"\n";
const char* const kChain =
    "model chain\nparam n = 24\nlattice box: n, length = n\nfield u: real\nu'' = lap(u) - u^3\n"
    "init u = sin(2*pi*x/n), u' = 0\nevolve rk4, dt = 0.05, until = t > 1.2LAUNCH\n"
    "every EVERY steps: mean(u^2), mean(u'^2) -> \"c.h5\"\n";

std::string text_of(std::string text, const std::string& launch, const std::string& every) {
  text.replace(text.find("LAUNCH"), 6, launch);
  text.replace(text.find("EVERY"), 5, every);
  return text;
}

/// For an OpenCL device that is a processor: code as GPUs take it.
runtime::RunResult run_as(const std::string& text, const std::string& form, bool* multi_steps) {
  Simulation setup;
  setup.device = form == "native" ? "native" : "opencl";
  setup.keep_state = true;
  program::Program program;
  if (form == "gpu") {
    program = *testing::compile_for_gpu(text, testing::opencl_gpu(4, 48 * 1024)).program;
  } else {
    program = *testing::compile_text(text, setup).program;
  }
  *multi_steps = !program.multi_step.empty();
  return testing::run_program(program, setup);
}

class Persistent : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!testing::device(GetParam() == std::string("native") ? "native" : "opencl"))
      GTEST_SKIP() << "no device";
  }
};

TEST_P(Persistent, GiveTheNumbersOfLaunchesForEachKernel) {
  const bool native = GetParam() == std::string("native");
  for (const char* model : {kMeanField, kRing, kOscillators}) {
    if (model == kOscillators && !native) break;  // OpenCL here takes seconds to compile it
    SCOPED_TRACE(model);
    bool multi_steps = true;
    const auto one = run_as(text_of(model, ", launch = step", "7"), GetParam(), &multi_steps);
    EXPECT_FALSE(multi_steps);
    const auto many = run_as(text_of(model, "", "7"), GetParam(), &multi_steps);
    EXPECT_TRUE(multi_steps);
    ASSERT_EQ(many.steps, one.steps);
    if (!native &&
        (GetParam() == std::string("gpu") || !testing::device("opencl")->info().is_cpu)) {
      // sums of one group and of many
      ASSERT_EQ(many.state.size(), one.state.size());
      for (std::size_t v = 0; v < one.state.size(); ++v)
        for (std::size_t i = 0; i < one.state[v].size(); ++i)
          ASSERT_NEAR(many.state[v][i], one.state[v][i], 1e-5) << v << " " << i;
    } else {
      EXPECT_EQ(many.state, one.state);
    }
    EXPECT_EQ(run_as(text_of(model, "", "1"), GetParam(), &multi_steps).state, many.state)
        << "how outputs cut the steps into launches must not matter";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Persistent, ::testing::Values("native", "opencl", "gpu"),
                         [](const auto& test) { return std::string(test.param); });

// Two sums over pairs in a step, and rows of sites between them.
TEST_P(Persistent, StagesThatSumOverPairsEach) {
  const std::string cloud =
      "model cloud\nparam N = 60\nparticles body: N\nvar x[k]: vec(2)\n"
      "U = sum(norm2(x[k])/2, k) + sum(exp(-norm2(x[k] - x[l])), k < l)/N\n"
      "x[k]' = -d(U, x[k])\ninit x ~ ball(1)\nevolve heun, dt = 0.05, until = t > 0.4LAUNCH\n"
      "every EVERY steps: U -> \"c.h5\"\n";
  bool multi_steps = false;
  const auto one = run_as(text_of(cloud, ", launch = step", "4"), "native", &multi_steps);
  const auto found = run_as(text_of(cloud, "", "4"), GetParam(), &multi_steps);
  ASSERT_EQ(found.state.size(), one.state.size());
  for (std::size_t v = 0; v < one.state.size(); ++v)
    for (std::size_t i = 0; i < one.state[v].size(); ++i)
      ASSERT_NEAR(found.state[v][i], one.state[v][i], 1e-12) << v << " " << i;
}

// Trajectories of a small lattice: a launch has some fifty kernels in it.
TEST_P(Persistent, TrajectoriesOfARing) {
  const std::string ring =
      "model ring\nlattice ring: 16, spacing = 0.5\nfield q: real\n"
      "action S = (q@x - q)^2/2 + q^2/2 + q^4\n"
      "sample hmc, trajectories = 6, tau = 1 {\n  level S: steps = 5, scheme = omelyan2\n}\n"
      "init q ~ normal\nevery 1 trajectory: mean(q^2), deltaH -> \"q.h5\"\n";
  bool multi_steps = false;
  const auto found = run_as(ring, GetParam(), &multi_steps);
  EXPECT_TRUE(multi_steps);
  const auto one = run_as(ring, "native", &multi_steps);
  EXPECT_NEAR(testing::last(found, "mean(q^2)"), testing::last(one, "mean(q^2)"), 1e-12);
  EXPECT_NEAR(testing::last(found, "deltaH"), testing::last(one, "deltaH"), 1e-11);
}

// A lattice of one axis whose steps write in place does the same.
TEST(RoundsOfAChain, AreTheSame) {
  bool multi_steps = false;
  const auto one = run_as(text_of(kChain, ", launch = step", "6"), "native", &multi_steps);
  EXPECT_EQ(run_as(text_of(kChain, "", "6"), "native", &multi_steps).state, one.state);
}

// Whoever advances without preparing first finds the sums of a launch of many steps in place.
TEST(Persistent, NeedNoPreparation) {
  const Compilation compiled = testing::compile_text(text_of(kMeanField, "", "4"), {});
  ASSERT_EQ(compiled.program->multi_step.size(), 1U);
  const auto bodies = [&](bool prepared) {
    runtime::Session session(*compiled.program, *testing::device("native"));
    session.start();
    if (prepared) session.prepare(6);
    session.advance(6);
    return session.read(0);
  };
  EXPECT_EQ(bodies(false), bodies(true));
}

}  // namespace
}  // namespace vphi
