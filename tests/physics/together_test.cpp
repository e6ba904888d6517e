// Several steps in one pass over memory give the bits of a pass for each step, for any division of
// the steps by outputs and the end of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/run/session.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

struct Model {
  const char* name;
  std::string text;           ///< LATTICE, TOGETHER, REAL and EVERY are filled in
  const char *small, *large;  ///< lattices: of GPUs' tiles, and of enough tasks for a processor
};

std::string waves(const std::string& laplacian) {
  return "model waves\nlattice box: LATTICE, spacing = 0.5\nfield phi, chi: real\n"
         "potential V = phi^2/2 + phi^2*chi^2/3\nlaplacian = " +
         laplacian +
         "\ninit phi = cos(0.7*x + sin(y)) + 0.2*z, phi' = 0.1*sin(y)\n"
         "init chi = 0.3*sin(x - z), chi' = 0\n"
         "evolve leapfrog, dt = 0.1, until = t > 1.25TOGETHER\nprecision real = REAL\n"
         "every EVERY steps: mean(phi^2), mean(chi) -> \"w.h5\"\n";
}

const std::vector<Model>& models() {
  static const std::vector<Model> kModels = {
      {"seven points", waves("star2"), "20*13*9", "64*48*80"},
      {"27 points", waves("iso27"), "24*12*7", "64*48*80"},
      {"reach of two sites", waves("axis4"), "40*15*10", "64*48*120"},
      {"reactions",
       "model reactions\nlattice sheet: LATTICE, spacing = 1\nfield u, v: real\n"
       "u' = 0.2*lap(u) - u*v^2 + 0.037*(1 - u)\nv' = 0.1*lap(v) + u*v^2 - 0.097*v\n"
       "init u = 1 - 0.3*cos(0.4*x)*sin(0.3*y), v = 0.4*sin(0.5*x + 0.2*y)^2\n"
       "evolve euler, dt = 1, until = t > 12.5TOGETHER\nprecision real = REAL\n"
       "every EVERY steps: mean(u), max(v) -> \"g.h5\"\n",
       "37*29", "512*700"},
      {"time, place and a field that stands still",
       "model driven\nlattice box: LATTICE, spacing = 0.5\nfield u, w: real\n"
       "u'' = lap(u) - w*u + 0.3*sin(3*t)*cos(0.5*x + y - 0.2*z)\nw' = 0\n"
       "init u = sin(x), u' = 0, w = 1 + 0.5*cos(y)\n"
       "evolve leapfrog, dt = 0.1, until = t > 1.25TOGETHER\nprecision real = REAL\n"
       "every EVERY steps: mean(u^2), mean(w) -> \"d.h5\"\n",
       "18*11*8", "64*48*80"},
      {"noise",
       "model noisy\nlattice box: LATTICE, spacing = 1\nfield phi: real\n"
       "phi' = lap(phi) + phi - phi^3 + 0.5*noise\ninit phi = 0.1*cos(x)\n"
       "evolve euler_maruyama, dt = 0.02, until = t > 0.25TOGETHER\nprecision real = REAL\n"
       "every EVERY steps: mean(phi^2) -> \"n.h5\"\n",
       "64*9*11", "64*48*80"},
      {"an expansion that is given",
       "model walls\nlattice box: LATTICE, spacing = 0.5\nmetric frw(a = t^(1/2))\n"
       "field phi: real\npotential V = (phi^2 - 1)^2/4\nrescale s = -1\n"
       "init t = 1, phi = 0.3*cos(x)*sin(y + z), phi' = 0\n"
       "evolve leapfrog, dt = 0.1, until = a > 1.5TOGETHER\nprecision real = REAL\n"
       "every EVERY steps: t, a, mean(phi^2) -> \"a.h5\"\n",
       "20*10*12", "64*48*80"},
  };
  return kModels;
}

std::string filled(std::string text, const char* lattice, const std::string& together,
                   const char* real, const char* every) {
  const auto put = [&](const std::string& word, const std::string& value) {
    text.replace(text.find(word), word.size(), value);
  };
  put("LATTICE", lattice), put("TOGETHER", together), put("REAL", real), put("EVERY", every);
  return text;
}

struct Finished {
  runtime::RunResult result;
  std::int64_t steps_of_a_pass = 0;
};

constexpr std::int64_t kRefused = -1;  ///< E0323: the planes of so many steps fit no group

/// Whether that is the one reason; any other is a failure of the test.
bool refused_for_want_of_room(const Compilation& compiled) {
  bool room = false;
  for (const dsl::Diagnostic& d : compiled.diagnostics.all()) {
    if (d.severity != dsl::Severity::Error) continue;
    const bool this_one = d.code == "E0323" && d.message.find("fit neither") != std::string::npos;
    EXPECT_TRUE(this_one) << d.code << ": " << d.message;
    room = room || this_one;
  }
  return room;
}

/// "gpu": on an OpenCL device that is a processor, code as GPUs take it.
Finished run_as(const std::string& text, const std::string& form) {
  Simulation setup;
  setup.device = form == "gpu" ? "opencl" : form;
  setup.keep_state = true;
  Compilation compiled;
  if (form == "gpu") {
    compiled = testing::compile_for_gpu(text, testing::opencl_gpu(4, 160 * 1024));
  } else {
    compiled = testing::compile_text(text, setup);
  }
  if (!compiled.program) {
    EXPECT_TRUE(refused_for_want_of_room(compiled));
    return {{}, kRefused};
  }
  return {testing::run_program(*compiled.program, setup), compiled.program->together_steps};
}

class Together : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string form = GetParam();
    if (!testing::device(form == "gpu" ? "opencl" : form)) GTEST_SKIP() << "no device";
  }
};

TEST_P(Together, GivesTheBitsOfAPassForEachStep) {
  const bool native = GetParam() == std::string("native");
  int compared = 0;
  for (const Model& model : models())
    for (const char* real : {"f32", "f64"}) {
      SCOPED_TRACE(std::string(model.name) + " " + real);
      const char* lattice = native ? model.large : model.small;
      const auto text = [&](const std::string& together, const char* every) {
        return filled(model.text, lattice, together, real, every);
      };
      const Finished one = run_as(text(", together = 1", "5"), GetParam());
      EXPECT_EQ(one.steps_of_a_pass, 0);
      const Finished two = run_as(text(", together = 2", "5"), GetParam());
      if (two.steps_of_a_pass == kRefused) continue;
      ++compared;
      EXPECT_EQ(two.steps_of_a_pass, 2);
      ASSERT_EQ(two.result.steps, one.result.steps);
      EXPECT_EQ(two.result.state, one.result.state);
      const Finished three = run_as(text(", together = 3", "7"), GetParam());
      if (three.steps_of_a_pass == kRefused) continue;
      EXPECT_EQ(three.steps_of_a_pass, 3);
      EXPECT_EQ(three.result.state, one.result.state) << "outputs cut steps elsewhere";
    }
  EXPECT_EQ(compared, 2 * static_cast<int>(models().size()))
      << "two steps of each fit every device";
}

INSTANTIATE_TEST_SUITE_P(Devices, Together, ::testing::Values("native", "gpu", "cuda"),
                         [](const auto& test) { return std::string(test.param); });

std::string remark_of(const std::string& text, const std::string& word) {
  Simulation setup;
  const Compilation c = testing::compile_text(text, setup);
  if (!c.plan) return "refused";
  for (const std::string& remark : c.plan->remarks)
    if (remark.find(word) != std::string::npos) return remark;
  return "";
}

TEST(TogetherRemark, SaysWhyEachStepHasItsPass) {
  const std::string text = waves("star2"), pass = "one pass over memory for each step: ";
  const auto with = [&](std::string changed, const std::string& from, const std::string& to) {
    changed.replace(changed.find(from), from.size(), to);
    return filled(changed, "64*48*80", "", "f64", "5");
  };
  EXPECT_EQ(remark_of(with(text, "spacing = 0.5", "spacing = 0.5, boundary = fixed(0)"), pass),
            pass + "the box has an end that is not periodic");
  EXPECT_EQ(remark_of(with(text, "leapfrog", "yoshida4"), pass).find(pass + "a step has "), 0U);
  EXPECT_EQ(remark_of(filled(text, "64*48*80", ", together = 1", "f64", "5"), pass),
            pass + "`together = 1` asks for it");
  const std::string closed = with(text, "\nfield phi", "\nmetric frw(a)\nfield phi");
  EXPECT_EQ(remark_of(closed, pass), pass + "sums over the box feed the next step");
}

}  // namespace
}  // namespace vphi
