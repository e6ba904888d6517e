// Numbers drawn once for each body, and couplings from a matrix in a file.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/tables/table_file.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

TEST(Drawn, CauchyHasItsQuartilesAndStays) {
  const std::string text =
      "model drawn\nparticles osc: 40000\nvar x[i]: angle\nw[i] ~ cauchy(0.5, 2)\n"
      "x[i]' = w[i]\ninit x = 0\nevolve euler_maruyama, dt = 0.01, until = t > 0.1\n"
      "every 1 steps: below = mean(w < 0.5), inside = mean(abs(w - 0.5) < 2), "
      "m = mean(atan(w)), turned = mean(cos(x)) -> \"d.h5\"\n";
  std::string ode = text;
  ode.replace(ode.find("euler_maruyama"), 14, "heun");
  const auto r = run_text(ode, {});
  const double sigma = 0.5 / std::sqrt(40000.0);
  EXPECT_NEAR(last(r, "below"), 0.5, 4 * sigma) << "seed 1, 4 sigma";
  EXPECT_NEAR(last(r, "inside"), 0.5, 4 * sigma) << "seed 1, 4 sigma";
  // <exp(i w t)> = exp(i t/2 - 2 t)
  const double t = 0.11;
  EXPECT_NEAR(last(r, "turned"), std::cos(t / 2) * std::exp(-2 * t), 4 * 0.7 / 200);
  const auto* m = r.find("m");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->points.front().second, m->points.back().second) << "drawn once";
  if (!testing::device("opencl")) return;
  Simulation cl;
  cl.device = "opencl";
  EXPECT_NEAR(last(run_text(ode, cl), "m"), last(r, "m"), 1e-12) << "the same on every device";
}

/// Lorentzian frequencies, all to all, no noise: r = sqrt(1 - 2 Gam/K) (Kuramoto 1975).
TEST(Kuramoto, LorentzianOrderParameter) {
  const auto r = run_text(
      "model lorentz\nparam N = 20000, Gam = 0.5\nsweep K = [0.5, 2, 4]\nparticles osc: N\n"
      "var x[i]: angle\nw[i] ~ cauchy(0, Gam)\n"
      "x[i]' = w[i] + K/N*sum(sin(x[j] - x[i]), j)\ninit x ~ uniform(0, 2*pi)\n"
      "evolve heun, dt = 0.05, until = t > 59.9\n"
      "order = abs(mean(exp(1i*x)))\n"
      "every 400 steps, after = t > 40: r = mean(order, over = time) -> \"l.h5\"\n",
      {});
  const auto* found = r.find("r");
  ASSERT_TRUE(found);
  const std::vector<double>& order = found->values.back();
  ASSERT_EQ(order.size(), 3U);
  // of N numbers drawn, the order parameter scatters by about 1/sqrt(N) = 0.007 (seed 1)
  EXPECT_LT(order[0], 0.05);
  EXPECT_NEAR(order[1], std::sqrt(1 - 2 * 0.5 / 2), 0.02);
  EXPECT_NEAR(order[2], std::sqrt(1 - 2 * 0.5 / 4), 0.02);
}

class Network : public ::testing::Test {
 protected:
  static constexpr int kN = 150;

  void SetUp() override {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> draw(-1, 1);
    std::ofstream out(path_);
    out.precision(17);
    out << "# a matrix that is not symmetric\n";
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        c_.push_back(draw(engine));
        out << c_.back() << (j + 1 < kN ? ", " : "\n");
      }
    }
  }

  std::string model(const std::string& sum, const std::string& extra = "") const {
    return "model network\nparticles osc: 150\nvar x[i]: angle\nC[i,j] = file(\"" + path_.string() +
           "\")[i,j]\nx[i]' = " + sum +
           "\ninit x[i] = 0.37*i - 2*pi*floor(0.37*i/(2*pi))\n"
           "evolve heun, dt = 0.01, until = t > 0.0095\nevery 1 steps: mean(cos(x)) -> "
           "\"n.h5\"\n" +
           extra;
  }

  /// The same by hand: one step of Heun's method.
  std::vector<double> expected(double k, bool transposed) const {
    std::vector<double> x(kN), y(kN), f1(kN), f2(kN);
    for (int i = 0; i < kN; ++i) x[i] = std::remainder(0.37 * i - M_PI, 2 * M_PI) + M_PI;
    const auto rate = [&](const std::vector<double>& at, std::vector<double>& f) {
      for (int i = 0; i < kN; ++i) {
        f[i] = 0;
        for (int j = 0; j < kN; ++j) {
          f[i] += k * c_[transposed ? j * kN + i : i * kN + j] * std::sin(at[j] - at[i]);
        }
      }
    };
    rate(x, f1);
    for (int i = 0; i < kN; ++i) y[i] = x[i] + 0.01 * f1[i];
    rate(y, f2);
    for (int i = 0; i < kN; ++i) x[i] += 0.005 * (f1[i] + f2[i]);
    return x;
  }

  void compare(const std::string& text, bool transposed, double tolerance,
               const std::string& device = "native") const {
    Simulation setup;
    setup.keep_state = true;
    setup.device = device;
    const auto r = run_text(text, setup);
    const auto x = expected(0.3, transposed);
    double worst = 0;
    for (int i = 0; i < kN; ++i) {
      worst = std::max(worst, std::abs(std::remainder(r.state[0][i] - x[i], 2 * M_PI)));
    }
    EXPECT_LT(worst, tolerance) << device;
  }

  const testing::ScratchFolder scratch_;
  const std::filesystem::path path_ = scratch_ / "coupling.txt";
  std::vector<double> c_;
};

TEST_F(Network, MatrixInASumOverPairs) {
  compare(model("0.3*sum(C[i,j]*sin(x[j] - x[i]), j)"), false, 1e-13);
}
TEST_F(Network, RowsAndColumnsExchanged) {
  compare(model("0.3*sum(C[j,i]*sin(x[j] - x[i]), j)"), true, 1e-13);
}
TEST_F(Network, PairsInSinglePrecision) {
  compare(model("0.3*sum(C[i,j]*sin(x[j] - x[i]), j)", "precision store = f64, pair = f32\n"),
          false, 1e-6);
}
TEST_F(Network, OnOpenCl) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL";
  compare(model("0.3*sum(C[i,j]*sin(x[j] - x[i]), j)"), false, 1e-13, "opencl");
}

/// Sines are taken out of the sum: two products with the matrix, and no function for a pair.
TEST_F(Network, NoFunctionForAPair) {
  const auto compiled = testing::compile_text(model("0.3*sum(C[i,j]*sin(x[j] - x[i]), j)"), {});
  int sums = 0;
  for (const auto& kernel : compiled.plan->kernels) {
    if (!kernel::sums_pairs(kernel)) continue;
    sums += static_cast<int>(kernel.stores.size());
    for (const auto& store : kernel.stores) {
      algebra::visit(store.value, [&](algebra::Expr e) {
        const bool turn = e.is(algebra::Op::Sin) || e.is(algebra::Op::Cos);
        EXPECT_FALSE(turn && algebra::reads_own(e) && algebra::reads_other(e)) << kernel.name;
      });
    }
  }
  EXPECT_EQ(sums % 2, 0);
  EXPECT_GT(sums, 0);
}

TEST_F(Network, InASweep) {
  const auto r = run_text(model("K*sum(C[i,j]*sin(x[j] - x[i]), j)", "sweep K = [0, 0.3]\n"), {});
  const auto* found = r.find("mean(cos(x))");
  ASSERT_TRUE(found);
  double sum = 0;
  for (const double x : expected(0.3, false)) sum += std::cos(x) / kN;
  EXPECT_NEAR(found->values.back().at(1), sum, 1e-13);
}

TEST_F(Network, FileThatIsMissingOrOfAnotherShape) {
  std::string text = model("sum(C[i,j]*sin(x[j] - x[i]), j)");
  std::string other = text;
  other.replace(other.find("osc: 150"), 8, "osc: 151");
  const std::string shape = testing::refusal_of_text(other);
  EXPECT_NE(shape.find("E0768"), std::string::npos) << shape;
  EXPECT_NE(shape.find("150 x 150, not 151 x 151"), std::string::npos) << shape;
  std::string gone = text;
  gone.replace(gone.find("coupling.txt"), 12, "absent__.txt");
  EXPECT_NE(testing::refusal_of_text(gone).find("E0781"), std::string::npos)
      << testing::refusal_of_text(gone);
}

/// The shipped network: couplings are mutual, 1/16 along each of 256*8 bonds.
TEST(SmallWorld, MatrixIsSymmetric) {
  const std::string folder =
      std::filesystem::path(testing::shipped("particles/network")).parent_path();
  const physics::Matrix c = physics::read_file(folder, "coupling.h5:C");
  ASSERT_EQ(c.rows(), 256U);
  ASSERT_EQ(c.columns, 256U);
  double total = 0;
  for (std::size_t i = 0; i < c.columns; ++i) {
    EXPECT_EQ(c.values[i * c.columns + i], 0);
    for (std::size_t j = 0; j < i; ++j) {
      const double pull = c.values[i * c.columns + j];
      EXPECT_EQ(pull, c.values[j * c.columns + i]);
      EXPECT_TRUE(pull == 0 || pull == 1.0 / 16);
      total += pull;
    }
  }
  EXPECT_EQ(total, 256 * 8 / 16.0);
}

/// Draws of the frequencies on the shipped matrix at K = 3, seed 1. Reference: stochastic Heun in
/// numpy with dt = 0.02, 192 draws of its own from t = 100 to 200, <r> = 0.7476 +- 0.0033; single
/// draws scatter by 0.046. All to all would have sqrt(1 - 2 (Gam + T)/K) = 0.812.
TEST(SmallWorld, OrderParameterOfManyDraws) {
  std::ostringstream file;
  file << std::ifstream(testing::shipped("particles/network")).rdbuf();
  std::string text = file.str();
  const auto put = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  put("sweep K = linspace(0, 4, 41)", "sweep K = [3]\nsweep draw = 1..40");
  put("coupling.h5:C",
      (std::filesystem::path(testing::shipped("particles/network")).parent_path() / "coupling.h5:C")
          .string());
  put("dt = 0.01, until = t > 200", "dt = 0.02, until = t > 60");
  put("after = t > 100", "after = t > 30");
  put("mean(order, over = time)", "r = mean(order, over = [draw, time])");
  const auto r = run_text(text, {});
  const auto* found = r.find("r");
  ASSERT_TRUE(found);
  const double mean = found->values.back().at(0), error = found->errors.back().at(0);
  EXPECT_NEAR(error * std::sqrt(40.0), 0.046, 0.02) << "the scatter of single draws";
  EXPECT_NEAR(mean, 0.7476, 4 * std::hypot(error, 0.0033));
}

}  // namespace
}  // namespace vphi
