// An oscillator whose frequency changes in the middle of a run, for several frequencies: one
// compilation serves all of them.
//
// Prints "w, x at the end, exact" and ends with status 1 where an error exceeds 1e-6, or where a
// value of the free parameter has compiled anything.
#include <cmath>
#include <cstdio>
#include <string>
#include <vphi/vphi.hpp>

int main() {
  const std::string text = R"(model oscillator "An oscillator"
param w = 1
var x: real, v: real
init x = 1, v = 0
x' = v
v' = -w^2*x
evolve rk4, dt = 0.001, until = t > 10
precision real = f64
)";
  bool fine = true;
  try {
    const vphi::Model model = vphi::Model::from_text(text, "oscillator");
    vphi::Options options;
    options.device = "native";
    options.free = {"w"};
    std::int64_t compiled = -1;
    std::puts("w, x at the end, exact");
    for (const double w : {0.5, 1.0, 2.0, 3.0}) {
      options.set["w"] = std::to_string(w);
      vphi::Simulation simulation = model.start(options);
      simulation.step_until("t > 1");
      const double first = simulation.time(), x = std::cos(w * first), v = -w * std::sin(w * first);
      simulation.set("w", std::to_string(2 * w));
      simulation.step(1000);
      const double angle = 2 * w * (simulation.time() - first);
      const double exact = x * std::cos(angle) + v / (2 * w) * std::sin(angle);
      const double found = simulation.evaluate("x").values[0];
      std::printf("%.1f, %.9f, %.9f\n", w, found, exact);
      fine = fine && std::abs(found - exact) < 1e-6;
      if (compiled >= 0 && vphi::compilations() != compiled) {
        std::fprintf(stderr, "w = %g has compiled kernels\n", w);
        fine = false;
      }
      compiled = vphi::compilations();
    }
  } catch (const vphi::Error& error) {
    std::fputs(error.text().c_str(), stderr);
    return 1;
  }
  return fine ? 0 : 1;
}
