// A model from a text, without a file: messages, tables, options that change it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "embed/initial_values.hpp"
#include "embed/simulation.hpp"
#include "runtime/device/library.hpp"
#include "tests/support/scratch.hpp"

namespace vphi {
namespace {

using embed::Error;
using embed::Model;

constexpr const char* kText = R"(model free "A free field"
param m = 1
lattice box: 16, length = 10, boundary = periodic
field phi: real
potential V = m^2*phi^2/2
init phi = cos(2*pi*x/10)
init phi' = 0
evolve leapfrog, dt = 0.02
precision real = f64
every 10 steps: mean(phi^2) -> "out.csv"
)";

TEST(Text, MistakesNameTheTextAndTheirPlace) {
  std::string text = kText;
  text.replace(text.find("m^2*phi"), 7, "m^2*chi");
  try {
    Model::from_text(text, "cell");
    FAIL() << "a name that does not exist was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, embed::ErrorKind::Model);
    ASSERT_FALSE(error.problems.empty());
    EXPECT_EQ(error.problems[0].code, error.code);
    EXPECT_EQ(error.problems[0].source, "cell");
    EXPECT_EQ(error.problems[0].line, 5);
    EXPECT_EQ(error.problems[0].column, 19);
    EXPECT_NE(error.text.find("cell:5:19"), std::string::npos) << error.text;
  }
}

TEST(Text, TablesLieInTheFolderOfItsName) {
  const testing::ScratchFolder folder;
  std::ofstream(folder / "force.txt") << "-10 -10\n0 0\n10 10\n";
  const std::string text = R"(model rolling "A force from a table"
var x: real
var v: real
init x = 1
init v = 0
force(q) = table("force.txt", q)
x' = v
v' = -force(x)
evolve rk4, dt = 0.01, until = t > 1
at end: x -> "end.csv"
)";
  const auto made = Model::from_text(text, (folder / "cell").string());
  embed::StartOptions options;
  options.device = "native";
  const embed::Result result = embed::run(made, options);
  // x'' = -x where the table is a line
  EXPECT_NEAR(result.run.scalar("x").value(), std::cos(result.run.time), 1e-6);
  EXPECT_THROW(Model::from_text(text, "cell"), Error);
}

TEST(Text, LaterChangesCount) {
  embed::Overrides first, second;
  first.set = {"m=1", "g=2"}, first.until = "t > 3";
  second.set = {"m=5"}, second.steps = 7;
  const embed::Overrides both = embed::together(first, second);
  EXPECT_EQ(both.set, (std::vector<std::string>{"g=2", "m=5"}));
  EXPECT_EQ(both.steps, 7);
  EXPECT_EQ(both.until, "");
}

TEST(Text, StateAndFormulasByHand) {
  embed::StartOptions options;
  options.device = "native";
  embed::Simulation simulation(Model::from_text(kText), options);
  EXPECT_EQ(simulation.step(25), 25);
  const embed::Array phi = simulation.evaluate("phi");
  EXPECT_EQ(phi.axes, std::vector<std::string>{"x"});
  ASSERT_EQ(phi.shape, std::vector<std::int64_t>{16});
  double squares = 0;
  for (const double value : phi.values) squares += value * value;
  EXPECT_NEAR(simulation.evaluate("mean(phi^2)").values.at(0), squares / 16, 1e-14);
  EXPECT_THROW(simulation.evaluate("psi"), Error);
  EXPECT_THROW(simulation.read("psi"), Error);
  EXPECT_THROW(simulation.step(-1), Error);  // nothing ends this run
  EXPECT_EQ(simulation.finish().run.steps, 25);
  EXPECT_THROW(simulation.step(1), Error);
}

TEST(Text, InitialValuesReplaceThoseOfTheText) {
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(i == 3 ? 2 : -0.125 * i);
  const double rate = 0.5;
  const embed::InitialValues given[] = {{"phi", {16}, values}, {"phi'", {}, {&rate, 1}}};
  embed::StartOptions options;
  options.device = "native";
  embed::Simulation simulation(Model::from_text(kText).with_initial_values(given), options);
  EXPECT_EQ(simulation.evaluate("phi").values, values);
  EXPECT_EQ(simulation.evaluate("phi'").values, std::vector<double>(16, rate));
  const embed::InitialValues wrong[] = {{"phi", {2, 8}, values}};
  EXPECT_THROW(Model::from_text(kText).with_initial_values(wrong), Error);
}

TEST(Text, PluginsAreLookedForBesideTheProgram) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(runtime::program_folder(), program.parent_path().string());
}

}  // namespace
}  // namespace vphi
