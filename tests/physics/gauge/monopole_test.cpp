// Monopoles of U(1) links as the library's text counts them: layers of a uniform flux that end,
// where the flux says how many there are, and hot links, whose share of cubes with a charge is
// known.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::largest;
using testing::last;
using testing::run_text;

/// The flux 2 pi `charge` goes along z through the layers 0 to 2 of six and ends between them. Each
/// plane has it spread evenly: links along y grow with x, those along x bring it around the box.
std::string ended_flux(int charge) {
  return "model flux \"Layers of a uniform flux\"\nparam charge = " + std::to_string(charge) +
         R"(
lattice grid: 6 * 5 * 6
gauge U: U(1)
P[i,j] = loop(i, j, -i, -j)
b = 2*pi*charge/30
m = monopoles(P)[x,y,z]
S = sum(1 - re(P[i,j]), i < j)
U' = -d(S, U)
along_x = -6*b*index(y)*(index(x) == 5)
along_y = b*index(x)
init U[i] = exp(1i*(index(z) < 3)*((i == 0)*along_x + (i == 1)*along_y))
precision real = f64
evolve euler, dt = 1e-6, until = t > 1e-9
every 1 step: number = total(abs(m)), whole = max(abs(sin(pi*m))) -> "m.h5"
every 1 step: above = total(m*(index(z) == 2)), below = total(m*(index(z) == 5)) -> "m.h5"
)";
}

TEST(Monopoles, StandWhereTheFluxEnds) {
  for (const int charge : {1, 2, -2}) {
    const auto result = run_text(ended_flux(charge), {});
    EXPECT_LT(largest(result, "whole"), 1e-12);
    EXPECT_NEAR(last(result, "number"), 2 * std::abs(charge), 1e-12);
    EXPECT_NEAR(last(result, "above"), -charge, 1e-12);
    EXPECT_NEAR(last(result, "below"), charge, 1e-12);
  }
}

// Five of the six angles of a cube of hot links are independent and even between -pi and pi, so
// that the charge is the whole number next to the sum of five such numbers over 2 pi: 0, 1 and 2
// have the weights 66, 2*26 and 2*1 of 120 of the quintic B-spline, and the mean of |m| is 56/120.
TEST(Monopoles, HaveTheShareOfHotLinksAndCloseInFourDimensions) {
  const std::string text = R"(model hot "Links without an action"
sweep chain = 1..16
lattice grid: 4^4
gauge U: U(1)
P[i,j] = loop(i, j, -i, -j)
M[i,j,k] = monopoles(P)[i,j,k]
step[l,i,j,k] = M[i,j,k]@l - M[i,j,k]
ends = step[x,y,z,t] - step[y,x,z,t] + step[z,x,y,t] - step[t,x,y,z]
S = sum(1 - re(P[i,j]), i < j)
U' = -d(S, U)
init U ~ hot
precision real = f64
evolve euler, dt = 1e-6, until = t > 1e-9
every 1 step: share = mean(mean(abs(M[i,j,k]), i < j, j < k), over = chain) -> "h.h5"
every 1 step: open = max(abs(ends)) -> "h.h5"
)";
  const auto result = run_text(text, {});
  // 16*4*256 cubes with a variance of (52 + 8)/120 - (56/120)^2 each; neighbours are correlated
  EXPECT_NEAR(last(result, "share"), 56.0 / 120, 0.02);
  EXPECT_LT(largest(result, "open"), 1e-12);
}

}  // namespace
}  // namespace vphi
