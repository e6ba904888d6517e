// Fields of one operator in one action, solved in one go: trajectories, rounds and residuals are
// those of one solve after the other, bit for bit without fused multiply-adds; roots of a
// determinant have its weight; solves that start from earlier solutions share their products.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::Simulation;

struct Fields {
  const char* name;
  int count;
  std::string factor;  ///< a determinant; $ stands for further options
  std::string gauge = "U(1)", lattice = "4^2", spinor = "spinor(2)";
};

void PrintTo(const Fields& f, std::ostream* out) { *out << f.name; }

/// A model whose action is the product of `count` such determinants; `together`: fields in one go.
std::string product_of(const Fields& f, int together, int trajectories = 3) {
  std::string factor = f.factor;
  factor.replace(factor.find('$'), 1,
                 together > 0 ? ", together = " + std::to_string(together) : "");
  std::string product = factor;
  for (int i = 1; i < f.count; ++i) product += "*" + factor;
  return "model fields \"fields of one operator\"\nlattice grid: " + f.lattice +
         "\ngauge U: " + f.gauge + "\nfermion psi: " + f.spinor +
         ", boundary(y) = antiperiodic\n"
         "D(psi) = psi - 0.15*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "action S = " +
         product + "\naction G = 2*sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n" +
         "sample hmc, trajectories = " + std::to_string(trajectories) +
         ", tau = 1 {\n  level S: steps = 3, scheme = leapfrog\n"
         "  level G: steps = 2, scheme = leapfrog\n}\ninit U ~ hot\n"
         "every 1 trajectory: deltaH, accept, n = iterations(S), r = residual(S), f = force(S), "
         "q = mean(re(tr(loop(x, y, -x, -y)))) -> \"f.csv\"\n";
}

std::vector<Fields> cases_of_fields() {
  return {
      {"Halves", 2, "pseudofermion(D, solver = cg(1e-9), force = cg(1e-7), even_odd = on$)"},
      {"ThreeFields", 3, "pseudofermion(D, solver = cg(1e-9)$)"},
      {"BothSystems", 2, "pseudofermion(D, solver = bicgstab(1e-9)$)", "SU(2)"},
      {"FourComponents", 2, "pseudofermion(D, solver = cgne(1e-9), even_odd = on$)", "SU(2)", "4^2",
       "spinor"},
      {"Roots", 2,
       "pseudofermion(D, solver = multishift(1e-9), force = multishift(1e-8), range = [0.4, 1.86], "
       "tol = 1e-6, even_odd = on$)^(1/2)"},
      {"Past", 2, "pseudofermion(D, solver = cg(1e-9), start = past(2), even_odd = on$)"},
  };
}

class FieldsTogether : public ::testing::TestWithParam<Fields> {};

TEST_P(FieldsTogether, AreThoseOfOneAfterTheOther) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  Simulation setup;
  setup.contract = false;
  const auto alone = testing::run_text(product_of(GetParam(), 1), setup);
  const auto both = testing::run_text(product_of(GetParam(), GetParam().count), setup);
  for (const char* name : {"deltaH", "accept", "n", "r", "f", "q"}) {
    EXPECT_EQ(last(both, name), last(alone, name)) << name;
    EXPECT_EQ(testing::largest(both, name), testing::largest(alone, name)) << name;
  }
  EXPECT_GT(last(alone, "n"), 20);
  EXPECT_LT(last(alone, "r"), 1e-7);
}

/// The rounds of both are one: half of the solves, and kernels with the work of both.
TEST_P(FieldsTogether, ShareTheirRounds) {
  const auto solves = [&](int together) {
    const Compilation c = testing::compile_text(product_of(GetParam(), together), {});
    std::size_t count = 0;
    for (const program::Launch& launch : c.program->launches(0)) count += launch.solve >= 0;
    return count;
  };
  const std::size_t alone = solves(1), both = solves(GetParam().count);
  const auto fields = static_cast<std::size_t>(GetParam().count);
  // each trajectory of a power looks for both ends of the spectrum of each field
  const std::size_t ends = GetParam().factor.find("^(1/2)") == std::string::npos ? 0 : 2 * fields;
  EXPECT_GT(alone, ends);
  EXPECT_EQ((alone - ends) % fields, 0u);
  EXPECT_EQ(both - ends, (alone - ends) / fields);
}

INSTANTIATE_TEST_SUITE_P(Actions, FieldsTogether, ::testing::ValuesIn(cases_of_fields()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FieldsOfOneOperator, OnOpenCl) {
  if (!testing::device("native") || !testing::device("opencl")) GTEST_SKIP() << "one device only";
  for (const Fields& f : {cases_of_fields()[0], cases_of_fields()[5]}) {
    Simulation opencl;
    opencl.device = "opencl";
    const auto wanted = testing::run_text(product_of(f, 1, 1), {});
    const auto both = testing::run_text(product_of(f, 2, 1), opencl);
    EXPECT_NEAR(last(both, "deltaH"), last(wanted, "deltaH"), 1e-7) << f.name;
    EXPECT_NEAR(last(both, "n"), last(wanted, "n"), 4) << f.name;
  }
}

std::vector<std::string> remarks_of(const Fields& f) {
  const Compilation gpu = testing::compile_for_gpu(product_of(f, 0), testing::opencl_gpu(2));
  return gpu.plan ? gpu.plan->remarks : std::vector<std::string>{};
}

bool told(const std::vector<std::string>& remarks, const std::string& text) {
  return std::ranges::any_of(
      remarks, [&](const std::string& remark) { return remark.find(text) != std::string::npos; });
}

/// Without `together` the registers of a GPU decide: in f64 four spinors of two complex numbers
/// fit, and two of SU(3) with four spins do.
TEST(FieldsOfOneOperator, AreCountedInRegisters) {
  Fields small = cases_of_fields()[5], large = small;
  small.count = large.count = 4;
  large.gauge = "SU(3)", large.spinor = "spinor";
  const auto few = remarks_of(small), many = remarks_of(large);
  EXPECT_TRUE(told(few, "4 right sides of `S, D adj(D) X = B` are solved 4 at a time"));
  EXPECT_TRUE(told(many, "4 right sides of `S, D adj(D) X = B` are solved 2 at a time"));
  EXPECT_TRUE(
      told(few, "products of `S, D adj(D) X = B` with 2 earlier solutions are made 4 in a"));
  EXPECT_TRUE(
      told(many, "products of `S, D adj(D) X = B` with 2 earlier solutions are made 2 in a"));
}

}  // namespace
}  // namespace vphi
