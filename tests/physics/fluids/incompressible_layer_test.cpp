// The growth of a shear layer of an incompressible fluid (Michalke, J. Fluid Mech. 19 (1964) 543)
// as the limit of slow flow, whose distance is of second order in the Mach number and in dx.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// An isothermal gas with sound of speed 1, half a wave length to both sides and half of it again.
/// The seed has no divergence.
std::string layer(double k, double speed, int cells) {
  return fmt::format(R"(model layer "a shear layer far below the speed of sound"
param v_0 = {}, k = {}
lattice plane: {} * {}, length = [2*pi/k, 3*pi/k], boundary = [periodic, neumann]
primitive n: real, v: vec(2)
conserve N = n:      div(N*v)
conserve M = n*v:    div(M*v) + grad(n)
recover {{
  n = N
  v = M/N
}}
scheme central
evolve rk4, dt = 0.5*dx, until = t > 18/v_0
f = cosh(y)^(-k)
small = 1e-5*k*f
init n = 1, v = [v_0*(tanh(y) - small*tanh(y)*cos(k*x)), v_0*small*sin(k*x)]
precision real = f64
inner = exp(-abs(k*y))
every 20 steps: size = sqrt(mean(v[1]*inner*sin(k*x))^2 + mean(v[1]*inner*cos(k*x))^2) -> "layer.h5"
)",
                     speed, k, cells, cells * 3 / 2);
}

/// The rate over the speed, a straight line through the logarithms of the second half.
double growth(double k, double speed, int cells) {
  const auto result = testing::run_text(layer(k, speed, cells), {});
  const auto& points = result.find("size")->points;
  double n = 0, t = 0, y = 0, tt = 0, ty = 0;
  for (std::size_t i = points.size() / 2; i < points.size(); ++i) {
    const double x = points[i].first, value = std::log(points[i].second);
    n += 1, t += x, y += value, tt += x * x, ty += x * value;
  }
  return (n * ty - t * y) / (n * tt - t * t) / speed;
}

TEST(IncompressibleLayer, IsTheLimitOfSlowFlow) {
  struct Row {
    double k, rate;
    int cells;
  };
  for (const Row& row :
       {Row{0.3, 0.17306842, 72}, Row{0.4446, 0.18970203, 48}, Row{0.6, 0.17299458, 48}}) {
    const auto with_no_step = [&](double speed) {
      const double coarse = growth(row.k, speed, row.cells);
      const double fine = growth(row.k, speed, row.cells * 4 / 3);
      return fine + (fine - coarse) / (16.0 / 9 - 1);
    };
    const double slow = with_no_step(0.1), fast = with_no_step(0.2);
    EXPECT_NEAR(slow + (slow - fast) / 3, row.rate, 0.005 * row.rate) << row.k;
    EXPECT_LT(fast, 0.97 * row.rate);  // the limit is far enough away
  }
}

}  // namespace
}  // namespace vphi
