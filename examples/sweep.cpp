// The period of a pendulum against its amplitude, compared with the complete elliptic integral.
//
// Prints "amplitude, period, exact" and ends with status 1 where an error exceeds 1e-5.
#include <cmath>
#include <cstdio>
#include <string>
#include <vphi/vphi.hpp>

namespace {

/// T = 2 pi/agm(1, cos(amplitude/2)), the arithmetic-geometric mean (Gauss).
double exact_period(double amplitude) {
  double a = 1, b = std::cos(amplitude / 2);
  for (int i = 0; i < 8; ++i) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2 * M_PI / a;
}

}  // namespace

int main() {
  const std::string text = R"(model swing "A pendulum that starts at rest"
param amplitude = 1
var theta: real
var omega: real
init theta = amplitude
init omega = 0
theta' = omega
omega' = -sin(theta)
evolve rk4, dt = 0.001, until = t > 5
precision real = f64
every 1 step: theta -> "swing.csv"
)";
  bool fine = true;
  try {
    const vphi::Model model = vphi::Model::from_text(text, "swing");
    std::puts("amplitude, period, exact");
    for (const double amplitude : {0.1, 1.0, 2.0, 3.0}) {
      vphi::Options options;
      options.device = "native";
      options.set["amplitude"] = std::to_string(amplitude);
      const vphi::Result result = model.run(options);
      const vphi::Series& theta = *result.find("theta");
      // A zero with falling theta lies a quarter of a period behind the start.
      double period = 0;
      for (std::size_t i = 1; i < theta.t.size() && period == 0; ++i) {
        const double a = theta.values[i - 1], b = theta.values[i];
        if (a > 0 && b <= 0)
          period = 4 * (theta.t[i - 1] + (theta.t[i] - theta.t[i - 1]) * a / (a - b));
      }
      const double exact = exact_period(amplitude);
      std::printf("%.1f, %.7f, %.7f\n", amplitude, period, exact);
      fine = fine && std::abs(period - exact) < 1e-5;
    }
  } catch (const vphi::Error& error) {
    std::fputs(error.text().c_str(), stderr);
    return 1;
  }
  return fine ? 0 : 1;
}
