// Directions as arguments of functions, and their comparison with axes, numbers and each other. On
// unit links each sum is a sum of written numbers.
#include <gtest/gtest.h>

#include "tests/physics/oracle/planted.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

testing::Simulation at_start() {
  testing::Simulation setup;
  setup.steps = 0;
  return setup;
}

const char* const kPhases =
    "phase(mu) = 1 if mu == x else 10 if mu == y else 100 if mu == z else 1000\n"
    "twice(nu) = 2*phase(nu)\n"
    "length(k) = re(tr(U[k]))/3\n"
    "back(k) = phase(-k)\n";

/// Value of one expression at a site of unit links in four dimensions.
double on_unit_links(const std::string& expression) {
  const auto result = testing::run_text(
      "model directions\nlattice grid: 2^4\ngauge U: SU(3)\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
      "action S = sum(3 - re(tr(P[mu,nu])), mu < nu)\nsample heatbath, sweeps = 1\ninit U ~ "
      "cold\n" +
          std::string(kPhases) + "every 1 sweep: a = mean(" + expression + ") -> \"m.h5\"\n",
      at_start());
  return result.scalars.at(0).second;
}

struct Sum {
  const char* name;
  const char* text;
  double value;
};

class SumOverDirections : public ::testing::TestWithParam<Sum> {};

TEST_P(SumOverDirections, IsThatOfTheWrittenNumbers) {
  EXPECT_NEAR(on_unit_links(GetParam().text), GetParam().value, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SumOverDirections,
    ::testing::Values(
        Sum{"AFunctionOfADirection", "sum(phase(mu)*length(mu), mu)", 1111},
        Sum{"AFunctionOfAFunction", "sum(twice(mu)*length(mu), mu)", 2222},
        Sum{"AFunctionThatTurnsItsArgument", "sum(back(mu)*length(mu), mu)", 1111},
        Sum{"TheRangeFollowsFromTheFunction", "sum(length(mu), mu)", 4},
        Sum{"TheAxisInBothSenses", "sum((mu == y)*length(mu), mu = directions(+,-))", 2},
        Sum{"TheSenseWhereItIsWritten", "sum((mu == -y)*length(mu), mu = directions(+,-))", 1},
        Sum{"OfTwoDirections",
            "sum((mu == -nu)*length(mu), mu = directions(+,-), nu = directions(+))", 4},
        Sum{"TheNumberOfAnAxis", "sum((mu == 2)*phase(mu)*length(mu), mu)", 100},
        Sum{"TheOrderOfAxes", "sum(phase(mu)*length(mu)*length(nu), mu < nu)", 123}),
    [](const auto& info) { return info.param.name; });

// A component's index stays one, and its number can be reckoned with.
TEST(IndexArguments, AreIndicesInTheFunction) {
  const auto result = testing::run_text(
      "model components\nlattice box: 4, length = 4\nfield v: vec(3)\npotential V = norm2(v)/2\n"
      "part(c) = (c + 1)*v[c]\nnext(k) = part(2 - k)\n"
      "init v = [1, 10, 100], v' = 0\nevolve leapfrog, dt = 0.1, until = t > 1\n"
      "every 1 step: a = mean(sum(part(c), c)), b = mean(sum(next(k)*v[k], k)) -> \"m.h5\"\n",
      at_start());
  EXPECT_DOUBLE_EQ(result.scalars.at(0).second, 1 + 20 + 300);
  EXPECT_DOUBLE_EQ(result.scalars.at(1).second, 300 + 200 + 100);
}

// `vphi test` reads a function of a direction as the model with its indices written.
TEST(OracleOfDirections, SeesTheWeightOfEachAxis) {
  const std::string text =
      "model weights\nlattice grid: 3^3\ngauge U: U(1)\nxi(mu) = 3 if mu == z else 1\n"
      "S = sum(xi(mu)*xi(nu)*(1 - re(loop(mu, nu, -mu, -nu))), mu < nu)\nU' = -d(S, U)\n"
      "init U ~ hot\nevolve rk4, dt = 0.01, until = t > 1\n"
      "every 1 step: mean(re(loop(x, y, -x, -y))) -> \"m.h5\"\n";
  planted::expect_right(text);
  const std::string written =
      planted::replaced(planted::replaced(text, "xi(mu)*xi(nu)", "(3 if nu == z else 1)"),
                        "xi(mu) = 3 if mu == z else 1\n", "");
  EXPECT_FALSE(planted::judged(text, written).found) << planted::judged(text, written).rows;
  EXPECT_TRUE(planted::judged(text, planted::replaced(written, "== z", "== y")).found);
}

}  // namespace
}  // namespace vphi
