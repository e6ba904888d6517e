// Waves that leave the box through a layer written in the equations: what is reflected, and the
// field that stays against the one in an infinite plane.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_file;
using testing::run_text;
using testing::shipped;
using testing::Simulation;

std::string line(const char* matched) {
  return std::string(R"(model layer "a pulse that leaves a line"
param L = 20, W = 4, strength = 10
lattice line: 224, length = L + 2*W, boundary = fixed
field u, q: real
layer(z) = strength*(max(abs(z) - L/2, 0)/W)^2
u'' = lap(u) + )") +
         matched + R"( - layer(x)*u'
q' = -layer(x + dx/2)*((u@x - u)/dx + q)
init u = exp(-x^2/2), q = 0
evolve rk4, dt = dx/3, until = t > 40
precision real = f64
at end: rest = max(abs(u)), q = max(abs(q)) -> "l.h5"
)";
}

// On a line the layer with q is matched to the inside: u' = -q - ..., so that left and right moving
// waves stay apart. Without q it is a sponge, which reflects.
TEST(Absorbing, AMatchedLayerReflectsNothing) {
  EXPECT_LT(last(run_text(line("(q - q@-x)/dx"), {}), "rest"), 1e-9);
  EXPECT_GT(last(run_text(line("0*q"), {}), "rest"), 1e-4);
}

// In a plane the tail at the centre is that of the infinite plane, to second order of dx.
TEST(Absorbing, TheTailInAPlane) {
  const auto off = [](const char* lattice) {
    Simulation setup;
    setup.lattice = lattice;
    setup.until = "t > 21.4";
    return std::abs(last(run_file(shipped("teaching/absorbing"), setup), "centre + tail"));
  };
  const double coarse = off("113^2"), fine = off("225^2");
  EXPECT_LT(coarse, 5e-5);
  EXPECT_LT(fine, coarse / 4);
}

}  // namespace
}  // namespace vphi
