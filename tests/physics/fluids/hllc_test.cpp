// The scheme `hllc`: contacts, which two waves spread, and shock tubes against exact solutions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/physics/fluids/tubes.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// A gas of gamma = 1.4: rho, p and v at the start.
struct Contact {
  std::string scheme = "hllc, fastest = right, slowest = left, carried = flow";
  std::string v = "[0]";
  int dims = 1;
  std::string device = "native";
};

runtime::RunResult run_contact(const Contact& c) {
  const auto text =
      fmt::format(R"(model contact "Two densities at one pressure"
lattice tube: {}, length = {}, boundary = {}
primitive rho, p: real, v: vec({})
c = sqrt(1.4*p/rho)
right[k] = v[k] + c
left[k]  = v[k] - c
flow[k]  = v[k]
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p)
conserve E = p/0.4 + rho*norm2(v)/2: div((E + p)*v)
recover {{
  rho = n
  v   = M/n
  p   = 0.4*(E - norm2(M)/(2*n))
}}
scheme {}
evolve heun, dt = 0.05*dx, until = t > 0.2
init rho = (1 if abs(x) < 0.25 else 0.1), p = 1, v = {}
precision real = f64
at end: still = max(norm(v)), least = min(p), most = max(p), slow = min(v[0]), fast = max(v[0]) -> "c.h5"
)",
                  c.dims == 1 ? "100" : "40*24", c.dims == 1 ? "1" : "[1, 0.6]",
                  c.dims == 1 ? "periodic" : "[periodic, neumann]", c.dims, c.scheme, c.v);
  testing::Simulation setup;
  setup.device = c.device;
  setup.keep_state = true;
  return testing::run_text(text, setup);
}

TEST(Hllc, AContactAtRestKeepsEveryDigit) {
  for (const int dims : {1, 2}) {
    Contact contact;
    contact.dims = dims;
    contact.v = dims == 1 ? "[0]" : "[0, 0]";
    const auto kept = run_contact(contact);
    EXPECT_EQ(testing::last(kept, "still"), 0);
    for (const double n : kept.state[0]) EXPECT_TRUE(n == 1 || n == 0.1) << n;
    contact.scheme = "hlle, fastest = right, slowest = left";
    const auto spread = run_contact(contact);
    EXPECT_GT(std::ranges::count_if(spread.state[0], [](double n) { return n > 0.11 && n < 0.99; }),
              10);
  }
}

TEST(Hllc, AContactThatMovesMakesNoSound) {
  for (const char* device : {"native", "opencl"}) {
    if (testing::device(device) == nullptr) continue;
    Contact contact;
    contact.v = "[0.3]";
    contact.device = device;
    const auto result = run_contact(contact);
    EXPECT_NEAR(testing::last(result, "least"), 1, 1e-12);
    EXPECT_NEAR(testing::last(result, "most"), 1, 1e-12);
    EXPECT_NEAR(testing::last(result, "slow"), 0.3, 1e-12);
    EXPECT_NEAR(testing::last(result, "fast"), 0.3, 1e-12);
  }
}

// Baryons of an ultrarelativistic gas have a contact in the tube.
TEST(Hllc, AShockTubeIsBetterThanWithTwoWaves) {
  testing::Fluids tube;
  tube.evolve = "heun";
  const auto error = [&](const std::string& scheme, int cells) {
    tube.scheme = scheme;
    tube.cells = cells;
    return testing::tube_error(tube, &testing::Fluid::n, &testing::Profile::n);
  };
  const std::string three = "hllc, fastest = right, slowest = left, carried = v[0]";
  const std::string two = "hlle, fastest = right, slowest = left";
  const double coarse = error(three, 100), fine = error(three, 200);
  EXPECT_GT(std::log2(coarse / fine), 0.7) << coarse << ", " << fine;
  EXPECT_LT(coarse, error(two, 100));
  EXPECT_LT(fine, error(two, 200));
}

}  // namespace
}  // namespace vphi
