// One lattice, shared by two ranks of this process: the bits are those of a single one.
//
// Prints the mean square of the field of both runs and ends with status 1 where a bit differs. On a
// machine with two GPUs `options.device = "cuda:0,1"` does the same on these.
#include <cstdio>
#include <string>
#include <vector>
#include <vphi/vphi.hpp>

int main() {
  const std::string text = R"(model box "A field in a box"
lattice box: 8*8*32, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2 + phi^4/4
init phi ~ 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.02, until = t > 1
precision real = f64
every 5 steps: mean(phi^2) -> "box.h5"
)";
  try {
    const vphi::Model model = vphi::Model::from_text(text, "box");
    std::vector<vphi::Array> fields;
    for (const int ranks : {1, 2}) {
      vphi::Options options;
      options.device = "native";
      options.ranks = ranks;
      vphi::Simulation simulation = model.start(options);
      simulation.step(-1);
      fields.push_back(simulation.evaluate("phi"));
      std::printf("%d: %.15g\n", ranks, simulation.evaluate("mean(phi^2)").values[0]);
    }
    return fields[0].values == fields[1].values ? 0 : 1;
  } catch (const vphi::Error& error) {
    std::fputs(error.text().c_str(), stderr);
    return 1;
  }
}
