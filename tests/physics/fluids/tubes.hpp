// Tubes of a relativistic fluid with p = e/3, one dimension, as a model text: schemes, steps,
// boundaries and devices to choose from, and errors against the exact solution.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/physics/fluids/riemann.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing {

struct Fluids {
  std::string scheme = "shasta";
  std::string evolve = "scheme";
  std::string init;
  int cells = 100;
  double length = 2, courant = 0.4, end = 0.8;
  std::string boundary = "outflow", precision = "f64", limits;
  std::string device = "native";

  double dt() const { return courant * length / cells; }
  std::int64_t steps() const { return std::llround(end / dt()); }
  double time() const { return static_cast<double>(steps()) * dt(); }
};

inline const char* const kLimits = R"(
limit E = E if E > 1e-12 else 0
limit M = M*min(1, E*(1 - 1e-12)/norm(M)) if norm(M) > 0 else M
)";

inline std::string model(const Fluids& s) {
  return fmt::format(R"(model tube "p = eps/3"
lattice tube: {}, length = {}, boundary = {}
primitive eps, rho: real, v: vec(1)
p(eps, rho) = eps/3
cs = 1/sqrt(3)
speed[k] = (abs(v[k]) + cs)/(1 + abs(v[k])*cs)
right[k] = (v[k] + cs)/(1 + v[k]*cs)
left[k]  = (v[k] - cs)/(1 - v[k]*cs)
W = 1/sqrt(1 - norm2(v))
conserve N = rho*W:              div(N*v)
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
{}
recover {{
  u   = norm(M)/(E + p) if E > 0 else 0
  eps = E - norm(M)*u
  rho = N*sqrt(1 - u^2)
  v   = M/(E + p) if E > 0 else 0
  solve u by fixed_point, tol = 1e-13, max = 60, start = 0
}}
scheme {}
evolve {}, dt = {}*dx, until = t > 1e9
init {}
precision real = {}
every 1 step: total(E), total(N), total(M[0]) -> "tube.h5"
)",
                     s.cells, s.length, s.boundary, s.limits, s.scheme, s.evolve, s.courant, s.init,
                     s.precision);
}

struct Profile {
  std::vector<double> e, v, n, E, M, N;
  runtime::RunResult result;
};

inline Profile run(const Fluids& s) {
  Simulation setup;
  setup.device = s.device;
  setup.keep_state = true;
  setup.steps = s.steps();
  Profile p{{}, {}, {}, {}, {}, {}, run_text(model(s), setup)};
  // in the order of the laws: N, M, E
  p.N = p.result.state.at(0), p.M = p.result.state.at(1), p.E = p.result.state.at(2);
  for (std::size_t i = 0; i < p.E.size(); ++i) {
    const Fluid fluid = recovered(p.E[i], p.M[i], p.N[i]);
    p.e.push_back(fluid.e), p.v.push_back(fluid.v), p.n.push_back(fluid.n);
  }
  return p;
}

inline const char* const kTube = "eps = (16 if x < 0 else 1), rho = (8 if x < 0 else 1), v = 0";

inline double tube_error(Fluids s, double Fluid::*what = &Fluid::e,
                         std::vector<double> Profile::*found = &Profile::e) {
  s.init = kTube;
  const ShockTube exact({16, 0, 8}, {1, 0, 1});
  const Profile p = run(s);
  return l1(p.*found,
            cell_means([&](double x) { return exact.at(x / s.time()).*what; }, s.cells, s.length));
}

}  // namespace vphi::testing
