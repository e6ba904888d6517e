// A program that adds a term between the steps: friction, which the model's text does not have.
//
// A free field oscillates with the frequency w. After each step the program multiplies the momentum
// by exp(-gamma dt), so that the amplitude decreases as exp(-gamma t/2). Status 1 where the error
// exceeds a percent of the initial amplitude.
#include <cmath>
#include <cstdio>
#include <string>
#include <vphi/vphi.hpp>

int main() {
  const std::string text = R"(model box "A uniform field of mass 1"
lattice box: 16, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = 1
init phi' = 0
evolve leapfrog, dt = 0.01
precision real = f64
every 100 steps: mean(phi) -> "box.csv"
)";
  const double gamma = 0.1, dt = 0.01;
  try {
    vphi::Options options;
    options.device = "native";
    vphi::Simulation simulation = vphi::Model::from_text(text, "box").start(options);
    const std::string momentum = simulation.state().back();
    for (int step = 0; step < 2000; ++step) {
      simulation.step(1);
      vphi::Array pi = simulation.read(momentum);
      for (double& value : pi.values) value *= std::exp(-gamma * dt);
      simulation.write(momentum, pi.values);
    }
    const double t = simulation.time(), w = std::sqrt(1 - gamma * gamma / 4);
    const double exact =
        std::exp(-gamma * t / 2) * (std::cos(w * t) + gamma / (2 * w) * std::sin(w * t));
    const double found = simulation.evaluate("mean(phi)").values.at(0);
    std::printf("phi(%.2f) = %.5f, exact %.5f\n", t, found, exact);
    return std::abs(found - exact) < 0.01 ? 0 : 1;
  } catch (const vphi::Error& error) {
    std::fputs(error.text().c_str(), stderr);
    return 1;
  }
}
