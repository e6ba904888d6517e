// Schemes with slopes of primitive variables, and functions of the model in the bodies of schemes
// and integrators.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "tests/physics/fluids/relativistic.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

/// A relativistic gas with its density; `start` and what is looked at are the caller's.
std::string gas(int cells, const std::string& scheme, const std::string& start, double end,
                const std::string& boundary, const std::string& seen) {
  return fmt::format(R"(model gas "relativistic gas"
lattice tube: {}, length = 1, boundary = {}
{}limit M = M*min(1, E*(1 - 1e-12)/norm(M)) if norm(M) > 0 else M
scheme {}, speed = speed
evolve heun, dt = 0.4*dx, until = t >= {}
init {}
precision real = f64
at end: {} -> "gas.h5"
expect conserved(E, N) within 1e-12
)",
                     cells, boundary,
                     relativistic_matter(1,
                                         "p(eps, rho) = eps/3\ncs = 1/sqrt(3)\n"
                                         "speed[k] = (abs(v[k]) + cs)/(1 + abs(v[k])*cs)",
                                         "fixed_point, tol = 1e-10, max = 40, start = 0"),
                     scheme, end, start, seen);
}

/// L1 distance from the exact solution, a density that is carried around the ring once.
double carried(int cells, const std::string& scheme) {
  const std::string seen = "mean(abs(N - 0.5*sin(2*pi*x)/sqrt(3/4) - 1/sqrt(3/4)))";
  const auto result = run_text(
      gas(cells, scheme, "eps = 1, rho = 1 + 0.5*sin(2*pi*x), v = [0.5]", 2, "periodic", seen), {});
  EXPECT_TRUE(result.expectations.at(0).ok);
  return last(result, seen);
}

TEST(PrimitiveSlopes, OrderTwoWhereTheSolutionIsSmooth) {
  std::vector<double> error;
  for (const int cells : {50, 100, 200}) error.push_back(carried(cells, "kt_primitive"));
  for (std::size_t i = 0; i + 1 < error.size(); ++i)
    EXPECT_NEAR(std::log2(error[i] / error[i + 1]), 2, 0.25) << error[i] << " " << error[i + 1];
  // with constant v and eps the slopes of N are those of rho
  EXPECT_NEAR(carried(100, "kt") / error[1], 1, 1e-6);
}

/// How often the limit |M| < E is touched where two streams of v = 0.99 meet.
double touched(const std::string& scheme) {
  const auto result = run_text(
      gas(200, scheme, "eps = (1 if x < 0 else 0.1), rho = 1, v = [0.99 if x < 0 else -0.99]", 0.2,
          "outflow", "fixes, max(norm(M)/E)"),
      {});
  EXPECT_LE(last(result, "max(norm(M)/E)"), 1);
  return last(result, "fixes");
}

TEST(PrimitiveSlopes, FastMatterTouchesNoLimit) {
  EXPECT_GT(touched("kt"), 50);
  EXPECT_EQ(touched("kt_primitive"), 0);
}

/// A pulse that is carried around, with a limiter called or written out.
std::vector<double> pulse(const std::string& definition, const std::string& slope) {
  testing::Simulation setup;
  setup.keep_state = true;
  return run_text(fmt::format(R"(model own "a limiter of one's own"
lattice line: 64, length = 1, boundary = periodic
primitive a: real
conserve u = a: d(u, x)
recover {{
  a = u
}}
{}
scheme own(U' = -d(F(U), k), speed, tiny = 1e-30) {{
  s  = {}
  Ul = U + s/2
  Ur = (U - s/2)@k
  c  = max(speed(Ul), speed(Ur))
  Fk = (F(Ul) + F(Ur) - c*(Ur - Ul))/2
  U' = -(Fk - Fk@-k)/dx
}}
scheme own, speed = 1
evolve heun, dt = 0.4*dx, until = t > 0.5
init a = exp(-100*x^2)
precision real = f64
at end: max(u) -> "own.h5"
)",
                              definition, slope),
                  setup)
      .state.at(0);
}

TEST(OwnFunctions, ALimiterOfTheModelIsCalledByItsScheme) {
  const auto called = pulse("both(p, q) = max(p*q, 0)\nvl(p, q, e) = 2*both(p, q)/(p + q + e)",
                            "vl(U - U@-k, U@k - U, tiny)");
  const auto written = pulse("", "2*max((U - U@-k)*(U@k - U), 0)/((U - U@-k) + (U@k - U) + tiny)");
  EXPECT_EQ(called, written);
}

TEST(OwnFunctions, AnIntegratorCallsThemToo) {
  const auto at_end = [](const std::string& body) {
    return last(run_text("model own\nvar x: real\nx' = -x\ninit x = 1\nhalf(a) = a/2\n"
                         "integrator own(y' = f(y, t)) {\n" +
                             body + "\n}\nevolve own, dt = 0.1, until = t >= 1\n" +
                             "at end: x -> \"own.h5\"\n",
                         {}),
                "x");
  };
  EXPECT_NEAR(at_end("y = y + half(dt*f(y, t)) + half(dt)*f(y, t)"), std::pow(0.9, 10), 1e-14);
}

}  // namespace
}  // namespace vphi
