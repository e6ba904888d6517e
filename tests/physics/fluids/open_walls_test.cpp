// Cells beyond an open wall: they have the state of the last cell, and the scheme is applied to
// them. The rule depends neither on the number of dimensions nor on how the primitive variables are
// recovered.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// A gas, p = eps/3, recovered by iterations or in closed form.
struct Gas {
  int dims = 1;
  bool solved = true;
  std::string scheme = "shasta", evolve = "scheme";
  std::string eps, v;  ///< at the start
  int cells = 40;
  std::string dx = "0.05";
  double until = 0.4;
  double courant = 0.2;  ///< dt/dx
};

constexpr const char* kSolved = R"(  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-14, max = 40, start = 0)";
constexpr const char* kClosed = R"(  eps = sqrt(4*E^2 - 3*norm2(M)) - E
  v   = M/(E + p))";

runtime::RunResult run(const Gas& g) {
  const bool plane = g.dims > 1;
  std::string text = fmt::format("model gas \"Open walls\"\nlattice tube: {}{}, spacing = {}",
                                 g.cells, plane ? "*4" : "", g.dx);
  text += fmt::format(", boundary = outflow\nprimitive eps: real, v: vec({})\n", g.dims);
  text += R"(p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
speed = 1
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
)";
  text += fmt::format("recover {{\n{}\n}}\n", g.solved ? kSolved : kClosed);
  text += fmt::format("scheme {}\nevolve {}, dt = {}*dx, until = t > {}\n", g.scheme, g.evolve,
                      g.courant, g.until);
  text += fmt::format("init eps = {}, v = [{}{}]\n", g.eps, g.v, plane ? ", 0" : "");
  text += R"(precision real = f64
every 1 step: least = min(eps), most = max(eps), fastest = max(norm(v)), energy = mean(E) -> "g.h5"
)";
  return testing::run_text(text, {});
}

void expect_same(const runtime::RunResult& a, const runtime::RunResult& b, const std::string& of) {
  for (const char* name : {"least", "most", "fastest", "energy"})
    EXPECT_NEAR(testing::last(a, name), testing::last(b, name), 1e-10) << of << ": " << name;
}

TEST(OpenWalls, AreTheSameHoweverTheStateIsRecoveredAndInAnyDimension) {
  Gas gas{.eps = "2 + 0.5*sin(3*x)", .v = "0.3*cos(2*x)"};  // a slope at both walls
  for (const auto& [scheme, evolve] : {std::pair{"shasta", "scheme"},
                                       {"shasta_explicit", "scheme"},
                                       {"kt, speed = speed, theta = 1.8", "heun"}}) {
    gas.scheme = scheme, gas.evolve = evolve;
    gas.dims = 1, gas.solved = true;
    const auto solved = run(gas);
    gas.solved = false;
    const auto closed = run(gas);
    gas.dims = 2;
    const auto plane = run(gas);
    expect_same(solved, closed, gas.scheme + ", recovered in two ways");
    expect_same(closed, plane, gas.scheme + ", in two dimensions");
  }
}

// A pulse of sound to the right, v = 3/4 c_s (eps - 1). What the wall sends back is a few percent
// of it; where cells beyond the wall have the last cell's state after half of the step it is 27 %.
TEST(OpenWalls, SoundLeaves) {
  const Gas gas{.eps = "1 + 0.05*exp(-(x/0.1)^2)",
                .v = "0.0216506*exp(-(x/0.1)^2)",
                .cells = 200,
                .dx = "0.01",
                .until = 2.8,
                .courant = 0.4};
  const auto result = run(gas);
  EXPECT_LT(std::abs(testing::last(result, "least") - 1), 0.004);
  EXPECT_LT(std::abs(testing::last(result, "most") - 1), 0.004);
}

}  // namespace
}  // namespace vphi
