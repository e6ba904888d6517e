// The rows of the tables of errors at 800 cells, which show the orders: those of an independent
// code in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/fluids/tubes.hpp"

namespace vphi {
namespace {

using testing::cell_means;
using testing::Fluids;
using testing::l1;
using testing::run;
using testing::tube_error;

struct Row {
  const char* scheme;
  const char* evolve;
  double error;
};

class Rows : public ::testing::TestWithParam<Row> {};

TEST_P(Rows, AtEightHundredCells) {
  Fluids s;
  s.scheme = GetParam().scheme;
  s.evolve = GetParam().evolve;
  s.cells = 800;
  s.limits = testing::kLimits;
  const double error = tube_error(s);
  EXPECT_NEAR(error / GetParam().error, 1, 0.01) << error;
}

INSTANTIATE_TEST_SUITE_P(Texts, Rows,
                         ::testing::Values(Row{"shasta", "scheme", 0.012765},
                                           Row{"shasta, half_step = off", "scheme", 0.05108},
                                           Row{"shasta_explicit", "scheme", 0.01492},
                                           Row{"shasta, mask = 0.8", "scheme", 0.0344},
                                           Row{"shasta, mask = 0", "scheme", 0.1102},
                                           Row{"kt, speed = speed, theta = 1.1", "heun", 0.0176},
                                           Row{"kt, speed = speed, theta = 1.8", "heun", 0.0147},
                                           Row{"hlle, fastest = right, slowest = left", "heun",
                                               0.0202}));

TEST(Rows, SinglePrecision) {
  Fluids s;
  s.cells = 800;
  s.precision = "f32";
  EXPECT_NEAR(tube_error(s) / 0.012765, 1, 0.001);
}

TEST(Rows, Vacuum) {
  Fluids s;
  s.cells = 800;
  s.end = 0.9;
  s.limits = testing::kLimits;
  s.init = "eps = (1 if x < 0 else 0), rho = eps, v = 0";
  const auto p = run(s);
  const auto exact =
      cell_means([&](double x) { return testing::into_vacuum(x / s.time()).e; }, s.cells, s.length);
  EXPECT_NEAR(l1(p.e, exact) / 1.002e-3, 1, 0.01);
}

}  // namespace
}  // namespace vphi
