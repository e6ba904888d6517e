// Length of strings and area of walls as formulas of sites: straight ones, which a lattice counts
// exactly.
#include <gtest/gtest.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

TEST(Defects, StraightStringsAndWallsAreCountedExactly) {
  const auto result = run_text(R"(model defects "straight strings and walls"
lattice box: 24^3, length = 12, boundary = periodic
field psi: complex
field phi: real
psi'' = lap(psi)
phi'' = lap(phi)
jump[i] = wrap(arg(psi@i) - arg(psi), 2*pi)
winding[i,j] = (jump[i] + jump[j]@i - jump[i]@j - jump[j])/(2*pi)
length = dx*total(sum(abs(winding[i,j]), i < j))
charge = total(winding[x,y])
cut[i] = phi*phi@i < 0
area = dx^2*total(sum(cut[i], i))
init psi = sin(2*pi*x/12 + 0.1) + 1i*sin(2*pi*y/12 + 0.05), phi = sin(2*pi*(x + y)/12 + 0.1)
evolve leapfrog, dt = 0.1, until = step >= 1
precision real = f64
at end: length, charge, area -> "d.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "length"), 4 * 12, 1e-9);  // two nodes of each sine: four strings
  EXPECT_NEAR(last(result, "charge"), 0, 1e-9);       // as many with as against
  // two walls of area sqrt(2)*12^2, each counted by |n_x| + |n_y| = sqrt(2)
  EXPECT_NEAR(last(result, "area"), 2 * 2 * 12 * 12, 1e-9);
}

}  // namespace
}  // namespace vphi
