// Two runs on one Brownian path: the coarse step's increments are sums of the finer ones'.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "compiler/coarse_path.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"
#include "tools/oracle/error_check.hpp"

namespace vphi {
namespace {

class Brownian : public ::testing::Test {
 protected:
  /// The path of a file with this text; the next call writes over it.
  std::string written(const std::string& text) const {
    const std::string path = folder_ / "model.vphi";
    std::ofstream(path) << text;
    return path;
  }
  const testing::ScratchFolder folder_;
};

std::string wiener(const std::string& equation, double dt, const std::string& options = "") {
  return "model w\nsweep path = 1..50\n" + options + "var x, y: real\n" + equation +
         "\ninit x = 0, y = 0\nevolve srk2, dt = " + std::to_string(dt) +
         ", until = t > 1.999\nat end: mean(x^2, over = path) -> \"w.h5\"\n";
}

runtime::RunResult run(const Compilation& c) {
  runtime::RunOptions options;
  options.keep_state = true;
  return runtime::run(*c.program, *testing::device("native"), options);
}

TEST_F(Brownian, CoarseIncrementsAreSumsOfTheFineOnes) {
  const std::string equation = "x' = noise\ny' = 0.5*noise";
  const emit::TargetInfo target = tools::target_of(testing::device("native")->info());
  const auto coarse = run(compile_coarse(written(wiener(equation, 0.1)), {}, target));
  const auto fine = run(compile_model(written(wiener(equation, 0.05)), {}, target));
  ASSERT_EQ(fine.steps, 2 * coarse.steps);
  for (std::size_t v = 0; v < 2; ++v)
    for (std::size_t i = 0; i < 50; ++i)
      EXPECT_NEAR(coarse.state[v][i], fine.state[v][i], 1e-12) << v << ' ' << i;
  // while another run at the coarse step is another path
  const auto other = run(compile_model(written(wiener(equation, 0.1)), {}, target));
  EXPECT_GT(std::abs(other.state[0][0] - fine.state[0][0]), 1e-3);
}

/// Additive noise and Heun: on one path the mean of x^2 differs by the error of the step, far below
/// the scatter of 50 paths.
TEST_F(Brownian, ErrorCheckOfAnEnsemble) {
  const std::string path = written(wiener("x' = -x + noise\ny' = 0", 0.1));
  const emit::TargetInfo target = tools::target_of(testing::device("native")->info());
  runtime::Device& device = *testing::device("native");
  const auto shown = run(compile_model(path, {}, target));
  const auto list = tools::error_check(path, {}, device, shown, {}).list;
  const auto* u = tools::find(list, "mean(x^2, over = path)");
  ASSERT_NE(u, nullptr);
  EXPECT_GT(u->last, 0);
  EXPECT_LT(u->last, 0.02);  // two samples would differ by 0.5*sqrt(2*2/50) = 0.14
}

TEST_F(Brownian, TwoPointNoiseIsRefused) {
  const std::string path =
      written(wiener("x' = noise\ny' = 0", 0.1, "noise stratonovich, accuracy = weak1\n"));
  const emit::TargetInfo target = tools::target_of(testing::device("native")->info());
  EXPECT_FALSE(compile_coarse(path, {}, target).program);
}

}  // namespace
}  // namespace vphi
