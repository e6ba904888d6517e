// Several right sides in one go: each solution, its rounds and its residual are those of the system
// alone, bit for bit without fused multiply-adds, for operators on spinors at half of the sites and
// at all, for a stored product, for staggered quarks and for numbers at sites.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::Simulation;

struct Columns {
  const char* name;
  std::string model;   ///< lines before the solutions
  std::string source;  ///< of column s, each with another number of rounds
  std::string call;    ///< operator, and options behind the right side
};

void PrintTo(const Columns& c, std::ostream* out) { *out << c.name; }

constexpr int kColumns = 4;

/// A model of four solutions, `together` of them in one go; 0: as the compiler chooses.
std::string text_of(const Columns& c, int together) {
  std::string text = "model columns \"several right sides\"\n" + c.model;
  std::string outputs;
  for (int s = 0; s < kColumns; ++s) {
    const std::string n = std::to_string(s);
    std::string source = c.source;
    for (std::size_t at; (at = source.find('#')) != std::string::npos;) source.replace(at, 1, n);
    const std::string op = c.call.substr(0, c.call.find(' '));
    const std::string options = c.call.substr(c.call.find(' ') + 1);
    text += "s" + n + " = solve(" + op + ", " + source + ", " + options +
            (together > 0 ? ", together = " + std::to_string(together) : "") + ")\n";
    outputs += (s == 0 ? "" : ", ") + ("n" + n) + " = total(norm2(s" + n + ")), i" + n +
               " = iterations(s" + n + "), r" + n + " = residual(s" + n + ")";
  }
  return text + "at end: " + outputs + " -> \"c.h5\"\n";
}

const std::string kLinks =
    "lattice grid: 4 * 2 * 4 * 4\ngauge U: SU(3), store = rows(2)\n"
    "here = index(x) == 1 and index(y) == 0 and index(z) == 0 and index(t) == 3\n";
const std::string kWilson =
    kLinks +
    "fermion psi: spinor, boundary(t) = antiperiodic\n"
    "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "D(psi) = psi + 0.04i*gamma5*psi - 0.13*hop(psi)\nDD(psi) = adj(D, D(psi))\n"
    "init U ~ hot, psi ~ normal\n";

/// The same on links of SU(2), whose kernels are compiled in less time.
Columns of_two_colours(Columns c) {
  const std::string three = "SU(3), store = rows(2)";
  if (const std::size_t at = c.model.find(three); at != std::string::npos)
    c.model.replace(at, three.size(), "SU(2)");
  return c;
}

std::vector<Columns> cases() {
  return {
      {"Halves", kWilson, "#*psi + (# > 1)*here*spinor(#, 1)", "D solver = cgne(1e-5)"},
      {"AllSites", kWilson, "#*psi + (# > 1)*here*spinor(#, 1)",
       "D solver = bicgstab(1e-5), even_odd = off"},
      {"StoredProduct", kWilson, "#*psi + here*spinor(#, 1)", "DD solver = cg(1e-5)"},
      of_two_colours({"TwoPrecisions", kWilson, "#*psi + (# > 1)*here*spinor(#, 1)",
                      "D solver = cgne(1e-5, inner = f32)"}),
      {"Staggered",
       kLinks + "fermion chi: spinor(1)\nturn(n) = 1 - 2*mod(n, 2)\n"
                "eta[k] = 1 if k == x else turn(index(x))\n"
                "K(chi) = 0.4*chi + sum(eta[k]*(U[k]*chi@k - U[-k]*chi@-k), k)/2\n"
                "init U ~ hot, chi ~ normal\n",
       "#*chi + here*spinor(0, 1)", "K solver = cgne(1e-5)"},
      {"Numbers",
       "lattice box: 8 * 6, spacing = 1, boundary = periodic\nfield w: real\n"
       "A(u) = (1 + w^2)*u - lap(u)\nw'' = lap(w)\ninit w ~ normal, w' = 0\n"
       "evolve leapfrog, dt = 0.1, until = t > 1\n",
       "cos(2*pi*index(x)/8)*(index(y) > 5 - #)", "A solver = cg(1e-5)"},
      {"NumbersAnew",  // solved anew, since this text has no lines that go on
       "lattice box: 8 * 6, spacing = 1, boundary = periodic\nfield w: real\n"
       "A(u) = (1 + w^2)*u - lap(u)\nw'' = lap(w)\ninit w ~ normal, w' = 0\n"
       "evolve leapfrog, dt = 0.1, until = t > 1\n",
       "cos(2*pi*index(x)/8)*(index(y) > 5 - #)", "A solver = cg_in_range(1e-6, inner = f32)"},
  };
}

class SeveralRightSides : public ::testing::TestWithParam<Columns> {};

runtime::RunResult solved(const Columns& c, int together, const std::string& precision,
                          const std::string& device, bool contract) {
  Simulation setup;
  setup.device = device;
  setup.precision = precision;
  setup.steps = 0;
  setup.contract = contract;
  return testing::run_text(text_of(c, together), setup);
}

TEST_P(SeveralRightSides, AreThoseOfEachAlone) {
  for (const char* precision : {"f32", "f64"}) {
    const auto alone = solved(GetParam(), 1, precision, "native", false);
    std::set<double> rounds;
    for (int s = 0; s < kColumns; ++s) rounds.insert(last(alone, "i" + std::to_string(s)));
    EXPECT_GT(rounds.size(), 1u) << "no column waits for another one";
    for (const int together : {2, 4}) {
      const auto both = solved(GetParam(), together, precision, "native", false);
      for (int s = 0; s < kColumns; ++s)
        for (const char* what : {"n", "i", "r"}) {
          const std::string name = what + std::to_string(s);
          EXPECT_EQ(last(both, name), last(alone, name)) << name << " " << precision << together;
        }
    }
  }
}

class RightSidesOnOpenCl : public ::testing::TestWithParam<Columns> {};

TEST_P(RightSidesOnOpenCl, AreThoseOfAProcessor) {
  setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);  // PoCL takes long over such kernels
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  const Columns c = of_two_colours(GetParam());
  const auto alone = solved(c, 1, "f64", "native", true);
  const auto both = solved(c, 2, "f64", "opencl", true);
  for (int s = 0; s < kColumns; ++s) {
    const std::string n = std::to_string(s);
    EXPECT_NEAR(last(both, "i" + n), last(alone, "i" + n), 1) << n;
    EXPECT_NEAR(last(both, "n" + n), last(alone, "n" + n), 1e-4 * last(alone, "n" + n)) << n;
    EXPECT_LT(last(both, "r" + n), 1e-4) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RightSidesOnOpenCl, ::testing::Values(cases()[1], cases()[5]),
                         [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(Operators, SeveralRightSides, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

// A right side that is 0 is done before the first round, and one that is not solved ends the run.
TEST(OneOfSeveral, IsZeroOrNotSolved) {
  Columns c = of_two_colours(cases()[0]);
  c.source = "#*psi";
  for (const char* call : {"D solver = cgne(1e-5, inner = f32)", "D solver = cgne(1e-5)"}) {
    c.call = call;
    const auto result = solved(c, 4, "f64", "native", true);
    EXPECT_EQ(last(result, "n0"), 0);
    EXPECT_EQ(last(result, "i0"), 0);
    EXPECT_GT(last(result, "i1"), 3);
    EXPECT_LT(last(result, "r3"), 3e-5);
  }
  c.call = "D solver = cgne(1e-5, max = 3)";
  try {
    solved(c, 2, "f64", "native", true);
    FAIL() << "three rounds are no solution";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("3 iterations of `cgne`"), std::string::npos)
        << error.what();
  }
}

// A GPU solves as many at a time with rounds in a lower precision as without them.
TEST(OneOfSeveral, MayHaveRoundsInTwoPrecisions) {
  const auto told = [](const std::string& options) {
    Columns c = of_two_colours(cases()[0]);
    c.call = "D solver = cgne(1e-5" + options + ")";
    const Compilation gpu = testing::compile_for_gpu(text_of(c, 0), testing::opencl_gpu(2));
    for (const std::string& remark : gpu.plan->remarks)
      if (remark.starts_with("4 right sides")) return remark.substr(remark.find("are solved"));
    return std::string();
  };
  const std::string in_two = told(", inner = f32");
  EXPECT_NE(in_two.find("2 at a time"), std::string::npos) << in_two;
  EXPECT_EQ(in_two, told(""));
}

// A right side may hold the solution of another one: then one follows the other.
TEST(OneOfSeveral, MayNeedAnother) {
  Columns c = cases()[0];
  std::string text = text_of(c, 0);
  text.replace(text.find("s1 = solve(D, 1*psi"), 19, "s1 = solve(D, 1*s0 ");
  Simulation setup;
  setup.steps = 0;
  EXPECT_LT(last(testing::run_text(text, setup), "r1"), 3e-5);
  bool told = false;
  const Compilation gpu = testing::compile_for_gpu(text, testing::opencl_gpu(2));
  ASSERT_TRUE(gpu.plan);
  for (const std::string& remark : gpu.plan->remarks)
    told =
        told || (remark.find("4 right sides") == 0 && remark.find("1 at a time") != remark.npos &&
                 remark.find("holds the solution of another one") != remark.npos);
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace vphi
