// The oracle of `vphi test` for conservation laws: recovery, start, fluxes and whole steps against
// the text. Right models pass; each fault of a table is found.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/physics/fluids/relativistic.hpp"
#include "tests/physics/oracle/planted.hpp"
#include "tests/physics_derive/derive_text.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi {
namespace {

using namespace planted;
using physics::Conservation;
using physics::Derived;
using tools::DerivativeRow;

// ---- models that the faults are planted in ------------------------------------------------------

const std::map<std::string, std::string>& law_texts() {
  static const std::map<std::string, std::string> kTexts{
      {"fluid", R"(model fluid "a relativistic fluid with sources, a scheme that is a step"
lattice box: 5*4, spacing = 0.5, boundary = [outflow, periodic]
primitive eps, rho: real, v: vec(2)
p(eps, rho) = 0.3*eps + 0.02*eps/(1 + abs(eps))
W = 1/sqrt(1 - norm2(v))
conserve N = rho*W:             div(N*v)
conserve M = (eps + p)*W^2*v:   div(M*v) + grad(p) + 0.3*M
conserve E = (eps + p)*W^2 - p: div((E + p)*v) + 0.2*p/(1 + t)
recover {
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  rho = N*sqrt(1 - u^2)
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-13, max = 200, start = 0
}
limit M = M*min(1, 0.4*E/norm(M)) if norm(M) > 0 else M
scheme shasta
split [xyyx, yx]
evolve scheme, dt = 0.2*dx, until = t > 1
init eps = 1 + 0.1*x, rho = 0.5, v = [0.1*y, 0]
precision real = f64
every 1 step: total(E) -> "m.h5"
expect conserved(N) within 1e-3
)"},
      {"gas", R"(model gas "Euler equations, a scheme that is a right side"
param gamma = 5/3
lattice box: 5*4, spacing = 0.4, boundary = [neumann, outflow]
primitive rho, p: real, v: vec(2)
c = sqrt(gamma*p/rho)
speed[k] = abs(v[k]) + c
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p) - n*[0.1, 0.2*x]
conserve E = p/(gamma - 1) + rho*norm2(v)/2: div((E + p)*v)
recover {
  rho = n
  v   = M/n
  p   = (gamma - 1)*(E - norm2(M)/(2*n))
}
scheme kt, speed = speed, theta = 1.5
evolve heun, dt = 0.05*dx, until = t > 0.2
init rho = (1 if x < 0 else 1/8), p = 1/10, v = 0
precision real = f64
every 20 steps: total(E) -> "m.h5"
expect conserved(n) within 1e-3
)"},
      {"tube", R"(model tube "slopes of primitive variables, the sound speed by a derivative"
lattice tube: 9, length = 2, boundary = outflow
)" +
                   relativistic_matter(1,
                                       "p(eps, rho) = 0.3*eps + 0.02*eps/(1 + abs(eps))\n"
                                       "cs = sqrt(d(p, eps) + rho/(eps + p)*d(p, rho))\n"
                                       "speed[k] = (abs(v[k]) + cs)/(1 + abs(v[k])*cs)",
                                       "newton, tol = 1e-12, max = 40, start = 0") +
                   R"(scheme kt_primitive, speed = speed
evolve heun, dt = 0.1*dx, until = t > 0.2
init eps = (16 if x < 0 else 1), rho = (8 if x < 0 else 1), v = 0
precision real = f64
every 1 step: total(E) -> "m.h5"
)"},
      {"water", R"(model water "two waves at each face"
param g = 1
lattice channel: 9, length = 4, boundary = periodic
primitive depth: real, v: vec(1)
right[k] = v[k] + sqrt(g*depth)
left[k]  = v[k] - sqrt(g*depth)
conserve h = depth:   div(h*v)
conserve q = depth*v: div(q*v) + grad(g*depth^2/2)
recover {
  depth = h
  v     = q/h
}
scheme hlle, fastest = right, slowest = left
evolve heun, dt = 0.1*dx, until = t > 1
init depth = (1 if x < 0 else 1/2), v = 0
every 1 step: total(h) -> "m.h5"
)"},
      {"road", R"(model road "a scheme and a limiter of the model's own"
lattice road: 9, length = 2, boundary = periodic
primitive a: real
vl(p, q) = 2*max(p*q, 0)/(p + q + 1e-9)
conserve u = a: d(u*0.7, x) + 0.1*u
recover {
  a = u
}
scheme donor(U' = -d(U*v, k)) {
  s  = vl(U - U@-k, U@k - U)
  Fk = max(v, 0)*(U + s/2) + min(v, 0)*(U - s/2)@k
  U' = -(Fk - Fk@-k)/dx
}
scheme donor
evolve heun, dt = 0.1*dx, until = t > 1
init a = exp(-x^2)
every 1 step: total(u) -> "m.h5"
)"},
      {"ring", R"(model ring "scale factors of positions and time"
lattice plane: 5*4, spacing = 0.4, boundary = [neumann, periodic]
R = x + 2
metric scale(1, R*(1 + t), 1 + 0.2*t*R), energy = E
primitive rho, p: real, v: vec(2)
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p)
conserve E = p/0.4 + rho*norm2(v)/2: div((E + p)*v)
recover {
  rho = n
  v   = M/n
  p   = 0.4*(E - norm2(M)/(2*n))
}
scheme kt, speed = 2
evolve heun, dt = 0.05*dx/max(norm(v) + sqrt(1.4*p/rho)), until = t > 1.2
init t = 1, rho = 1, p = 1, v = 0
precision real = f64
every 20 steps: total(E) -> "m.h5"
)"},
      {"number", R"(model number "a velocity that is a number"
lattice line: 9, length = 1, boundary = periodic
primitive eps, v: real
p(eps) = eps/3 + eps^2/(100 + 10*eps)
W2 = (1/sqrt(1 - v^2))^2
conserve M = (eps + p)*W2*v:  d(M*v, x) + d(p, x)
conserve E = (eps + p)*W2 - p: d((E + p)*v, x)
recover {
  u   = abs(M)/(E + p)
  eps = E - abs(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-12, max = 200, start = 0
}
scheme kt, speed = 1
evolve heun, dt = 0.1*dx, until = t > 0.1
init eps = 1 + 0.1*sin(2*pi*x), v = 0.1
every 1 step: total(E) -> "m.h5"
)"},
      {"stress", R"(model stress "a variable that relaxes, derivatives in time, a vector solved for"
lattice plane: 5*4, spacing = 0.4, boundary = [neumann, outflow]
R = x + 2
metric scale(1, R, 1 + 0.1*t), energy = E
primitive eps, s: real, v: vec(2)
p = eps/3
W = 1/sqrt(1 - norm2(v))
conserve E = (eps + p)*W^2 - p + s*norm2(v): div(M)
conserve M = (eps + p)*W^2*v + s*v:          div((M - s*v)*v) + grad(p + s) + 0.05*v'
theta = W' + d(W*v[0], x) + d(W*v[1], y)/R
relax s = -0.3*eps*theta + 0.1*v[1]' + 0.01*t, time = 2*W, along = v
recover {
  eps = E - dot(M, v)
  v   = M/(E + p + s - s*norm2(v))
  solve v by fixed_point, tol = 1e-14, max = 200, start = 0
}
scheme kt_primitive, speed = 1
evolve heun, dt = 0.05*dx, until = t > 1.2
init t = 1, eps = 1, s = 0.05, v = [0.1*x, 0.05]
precision real = f64
every 20 steps: total(E) -> "m.h5"
)"},
      {"hot", R"(model hot "names that are solved for together, one by a derivative; steep rates"
units fm
lattice line: 6, length = 2.7 [fm], boundary = outflow
metric scale(1, 1, t), energy = E
primitive T, s: real, v: vec(1)
p = hotqcd_p(T)
h = T*d(p, T)
W = 1/sqrt(1 - norm2(v))
conserve E = h*W^2 - p + s*norm2(v): div(M)
conserve M = h*W^2*v + s*v:          div((M - s*v)*v) + grad(p + s)
theta = W' + d(W*v[0], x) + W/t
relax s = -0.1*h/T*theta, time = 2*W/T, along = v
recover {
  T = T*(max(E - dot(M, v), 1e-20)/(h - p))^(1/4)
  v = M/(E + p + s - s*norm2(v))
  solve T by newton, tol = 1e-9, max = 300, start = 0.2 [GeV], from = 1e-5 [GeV], to = 1000 [GeV]
  solve v by fixed_point, tol = 1e-9, max = 300, start = 0
}
scheme kt_primitive, speed = 1
evolve heun, dt = 0.05*dx, until = t > 1.2 [fm]
init t = 1 [fm], T = 0.3 [GeV], s = 0.05, v = [0.1*x]
precision real = f64
every 20 steps: total(E) -> "m.h5"
)"},
      {"wall", R"(model wall "a field beside a fluid, in coordinates that move"
lattice plane: 5*4, spacing = 0.4, boundary = [neumann, outflow]
R = x + 2
metric scale(1, R, 1 + 0.1*t), energy = E
field phi: real
primitive eps: real, v: vec(2)
U = 0.05*phi^2
p = eps/3 - U
W = 1/sqrt(1 - norm2(v))
slope = [d(phi, x), d(phi, y)/R]
friction = 0.2*W*(phi' + dot(v, slope))
potential V = phi^4/4 + 0.1*eps*phi^2
phi'' = derived - friction
conserve E = 4/3*eps*W^2 - p: div(M) - friction*phi' + 0.01*norm2(grad(phi)) - 0.01*lap(phi)
conserve M = 4/3*eps*W^2*v:   div(M*v) + grad(p) + friction*slope
recover {
  q   = E - U
  eps = sqrt(4*q^2 - 3*norm2(M)) - q
  v   = M/(q + eps/3)
}
scheme kt_primitive, speed = 1
evolve ssp_rk3, dt = 0.05*dx, until = t > 1.2
init t = 1, phi = 0.3 + 0.1*x, phi' = 0, eps = 1, v = [0.1*x, 0.05]
precision real = f64
every 20 steps: total(E) -> "m.h5"
)"},
      {"jet", R"(model jet "a step whose states beyond ends are given, with t and the last cell"
lattice box: 5*4, spacing = 0.5, boundary = outflow
)" +
                  relativistic_matter(2, "p(eps, rho) = eps/3",
                                      "fixed_point, tol = 1e-14, max = 200, start = 0") +
                  R"(beyond low(x): eps = (1.5 if y > 0 else eps), v = [0.3 + 0.5*t, v[1]]
beyond y: rho = 0.7 + 0.1*x
scheme shasta
split [xyyx, yx]
evolve scheme, dt = 0.2*dx, until = t > 1
init eps = 1 + 0.1*x, rho = 0.5, v = [0.1*y, 0]
precision real = f64
every 1 step: total(E) -> "m.h5"
expect conserved(N) within 1e-3
)"},
      {"held",
       R"(model held "a mirror at one end, a given state at the other, derivatives in sources"
lattice plane: 5*4, spacing = 0.4, boundary = [neumann, outflow]
R = x + 2
metric scale(1, R, 1 + 0.1*t), energy = E
primitive eps, s: real, v: vec(2)
p = eps/3
W = 1/sqrt(1 - norm2(v))
conserve E = (eps + p)*W^2 - p + s*norm2(v): div(M)
conserve M = (eps + p)*W^2*v + s*v: div((M - s*v)*v) + grad(p + s) + 0.05*[d(eps, x), d(s, y)]
theta = W' + d(W*v[0], x) + d(W*v[1], y)/R
relax s = -0.3*eps*theta, time = 2*W, along = v
recover {
  eps = E - dot(M, v)
  v   = M/(E + p + s - s*norm2(v))
  solve v by fixed_point, tol = 1e-14, max = 200, start = 0
}
beyond high(x): eps = 1.2 + 0.1*y, v = [-0.2*t, 0.1 - v[1]]
beyond low(y): s = 0.02*x, v = 0
scheme kt_primitive, speed = 1
evolve heun, dt = 0.05*dx, until = t > 1.2
init t = 1, eps = 1, s = 0.05, v = [0.1*x, 0.05]
precision real = f64
every 20 steps: total(E) -> "m.h5"
expect conserved(E) within 1e-3
)"},
      {"viscous",
       R"(model viscous "derivatives in fluxes, in coordinates, at a mirror and a given state"
lattice plane: 5*4, spacing = 0.4, boundary = [neumann, outflow]
R = x + 2
metric scale(1, R, 1 + 0.1*t), energy = E
primitive rho, T: real, v: vec(2)
p = rho*T
dv = [[d(v[0], x), d(v[0], y)/R], [d(v[1], x), d(v[1], y)/R]]
s = 0.03*(1 + x)*sqrt(T)*(dv + adj(dv))
q = -0.02*N*[d(T, x), d(log(T), y)/R]
conserve N = rho:   div(rho*v)
conserve M = rho*v: div(M*v) + grad(p) - div(s)
conserve E = 3/2*p + rho*norm2(v)/2: div((5/2*p + rho*norm2(v)/2)*v - s*v + q)
recover {
  rho = N
  v   = M/N
  T   = (E - norm2(M)/(2*N))*2/(3*N)
}
beyond high(y): T = 1.2 + 0.1*x
scheme kt, speed = norm(v) + sqrt(2*T)
evolve heun, dt = 0.02*dx, until = t > 1.2
init t = 1, rho = 1, T = 1, v = [0.1*x, 0.05]
precision real = f64
every 20 steps: total(E) -> "m.h5"
expect conserved(N) within 1e-3
)"},
      {"noisy", R"(model noisy "noise in fluxes and sources, of a strength that the state gives"
lattice plane: 5*4, spacing = 0.4, boundary = periodic
primitive rho: real, v: vec(2)
xi = 0.1*noise
W = [[0.2*noise, xi], [xi, 0.3*rho*noise]]
conserve N = rho:   div(rho*v) - 0.05*(noise + xi)
conserve M = rho*v: div(outer(M, v) - 0.1*sqrt(rho)*W) + grad(rho) - 0.01*[noise, rho]
recover {
  rho = N
  v   = M/N
}
noise ito
scheme hlle, fastest = norm(v) + 1, slowest = -norm(v) - 1
evolve euler_maruyama, dt = 0.01*dx, until = t > 0.1
init rho = 1, v = 0
precision real = f64
every 20 steps: total(N) -> "m.h5"
)"},
      {"magnetic", R"(model magnetic "fields without divergence, with resistance and a source"
lattice box: 3*4*3, spacing = 0.4, boundary = periodic
primitive rho: real, v, b: vec(3)
conserve N = rho:   div(rho*v)
conserve M = rho*v: div(outer(M, v) - outer(b, b)) + grad(rho + norm2(b)/2)
conserve B = b:     curl(0.1*sqrt(rho)*curl(b) - cross(v, b)) - 0.1*[rho, 0, x]
recover {
  rho = N
  v   = M/N
  b   = B
}
scheme kt, speed = norm(v) + sqrt(1 + norm2(b))
evolve ssp_rk3, dt = 0.01*dx, until = t > 0.1
init rho = 1, v = 0, b = [1, 0, 0.5]
precision real = f64
every 20 steps: total(N) -> "m.h5"
)"},
      {"cosmos", R"(model cosmos "a field and a fluid whose energies expand the box"
lattice plane: 5*4, spacing = 0.4, boundary = periodic
metric frw(a), energy = E
field phi: real
primitive eps: real, v: vec(2)
p = eps/3 - 0.05*phi^2*a
W = 1/sqrt(1 - norm2(v))
slope = [d(phi, x), d(phi, y)]/a
friction = 0.2*H*W*(phi' + dot(v, slope))
potential V = phi^4/4 + 0.1*phi^2/a
phi'' = derived - friction
conserve E = 4/3*eps*W^2 - p: div(M) - friction*phi'
conserve M = 4/3*eps*W^2*v:   div(M*v) + grad(p) + friction*slope
recover {
  q   = E - 0.05*phi^2*a
  eps = sqrt(4*q^2 - 3*norm2(M)) - q
  v   = M/(q + eps/3)
}
scheme kt_primitive, speed = 1
evolve ssp_rk3, dt = 0.05*dx, until = t > 1.2
init phi = 0.3 + 0.1*x, phi' = 0, eps = 1, v = [0.1*x, 0.05]
precision real = f64
every 20 steps: total(E) -> "m.h5"
)"},
      {"growing", R"(model growing "a scheme that is a step, in a box of given growth"
lattice box: 5*4, spacing = 0.5, boundary = [outflow, periodic]
metric frw(b = (1 + t)^(2/3)), energy = E
)" +
                      relativistic_matter(2, "p(eps, rho) = eps/3",
                                          "fixed_point, tol = 1e-14, max = 200, start = 0") +
                      R"(scheme shasta
split [xyyx, yx]
evolve scheme, dt = 0.2*dx, until = t > 1
init eps = 1 + 0.1*x, rho = 0.5, v = [0.1*y, 0]
precision real = f64
every 1 step: total(E) -> "m.h5"
)"},
  };
  return kTexts;
}

// ---- faults -------------------------------------------------------------------------------------

Conservation& laws(System& s) { return *s.conservation; }

void change(System& s, Expr& value, const Change& how) {
  const Expr before = value;
  value = how(s, value);
  if (value == before) throw std::runtime_error("nothing was planted");
}

Plant recovered(const std::string& name, const Change& how) {
  return [=](System& s) {
    for (Derived& value : laws(s).recovered)
      if (value.name == name) return change(s, value.value, how);
    throw std::runtime_error("nothing is recovered as " + name);
  };
}
Plant line(std::size_t axis, const std::string& name, const Change& how) {
  return [=](System& s) {
    std::string known;
    for (Derived& value : laws(s).sweeps.at(axis).lines) {
      if (value.name == name) return change(s, value.value, how);
      known += " " + value.name;
    }
    throw std::runtime_error("no line " + name + " among" + known);
  };
}
Plant result(std::size_t axis, std::size_t quantity, const Change& how) {
  return [=](System& s) {
    change(s, laws(s).sweeps.at(axis).result.at(laws(s).quantities.at(quantity)), how);
  };
}
Plant face(std::size_t axis, std::size_t quantity, const Change& how) {
  return [=](System& s) {
    auto& faces = laws(s).sweeps.at(axis).face;
    change(s, faces.at(laws(s).quantities.at(quantity)), how);
  };
}
Plant source(std::size_t quantity, const Change& how) {
  return [=](System& s) { change(s, laws(s).source.at(laws(s).quantities.at(quantity)), how); };
}
Plant start(std::size_t quantity, const Change& how) {
  return [=](System& s) {
    for (physics::InitialValue& value : s.initial)
      if (value.array == laws(s).quantities.at(quantity)) return change(s, value.value, how);
    throw std::runtime_error("no such start");
  };
}
Plant noise(std::size_t quantity, const Change& how) {
  return [=](System& s) {
    for (physics::Variable& v : s.variables) {
      if (v.array != laws(s).quantities.at(quantity)) continue;
      return change(s, v.rate, [&](System& system, Expr rate) {
        return algebra::rewrite(rate, [&](Expr e) { return e.is(Op::Noise) ? how(system, e) : e; });
      });
    }
    throw std::runtime_error("no such quantity");
  };
}
Plant slope_of_a(const Change& how) {
  return [=](System& s) {
    for (auto& scalar : s.scalars)
      if (scalar.symbol == "a_slope") return change(s, scalar.rate, how);
    throw std::runtime_error("no box that expands");
  };
}
bool positions(Expr e) { return e.is(Op::Site); }
Expr turned(Expr e) { return algebra::shift(e, {{1}}); }

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      // recovery and roots
      {"a root one in a million too large", "fluid", recovered("u", times(1 + 1e-6))},
      {"a root of the other sign", "tube", recovered("u", times(-1))},
      {"a velocity of the other sign", "fluid", recovered("v_1", times(-1))},
      {"a component for the other", "fluid",
       [](System& s) {
         auto& r = laws(s).recovered;
         std::swap(r.at(r.size() - 2).value, r.back().value);
       }},
      {"half an energy density", "tube", recovered("eps", times(0.5))},
      {"a density without its contraction", "fluid",
       recovered("rho", [](System& s, Expr) { return s.arena->load(laws(s).quantities[0]); })},
      {"a pressure one in a million too large", "gas", recovered("p", times(1 + 1e-6))},
      {"kinetic energy dropped", "gas",
       recovered("p",
                 [](System& s, Expr e) {
                   return algebra::substitute(e, s.arena->load(laws(s).quantities[2]),
                                              s.arena->integer(0));
                 })},
      // derivatives and noise in fluxes
      {"a viscosity one in a million too large", "viscous",
       line(0, "through_M_0", times(1 + 1e-6))},
      {"heat that flows uphill", "viscous", line(1, "through_E", times(-1))},
      {"noise of the other sign", "noisy", noise(1, times(-1))},
      {"noise a tenth too strong", "noisy", noise(0, times(1.1))},
      // fields without divergence
      {"a curl of the other sign", "magnetic", line(2, "curl_B", times(-1))},
      // the start
      {"a start of the other sign", "fluid", start(1, times(-1))},
      {"a start without a Lorentz factor", "fluid", start(3, times(1.001))},
      // fluxes of a step
      {"sign of the pressure in a flux", "fluid", line(0, "g_M_0", times(-1))},
      {"a flux of the pressure along the wrong axis", "fluid",
       line(1, "g_M_1", [](System& s, Expr) { return s.arena->integer(0); })},
      {"half a flux of energy", "fluid", line(0, "g_E", times(0.5))},
      {"the velocity of a flux of the other sign", "fluid", line(1, "w", times(-1))},
      {"velocities that are too large by 1e-6", "fluid", line(0, "w", times(1 + 1e-6))},
      {"a transport factor from the wrong neighbour", "fluid",
       line(0, "Qp", nodes(neighbour, at_the_site))},
      {"a difference one cell off", "fluid",
       line(0, "D_N", [](System&, Expr e) { return turned(e); })},
      {"antidiffusion dropped", "fluid", line(0, "A_E", times(0))},
      {"antidiffusion of the other sign", "fluid", line(1, "Aph_E", times(-1))},
      {"a limiter that is too wide", "fluid", line(0, "Dt_N", times(2))},
      {"half a step's result", "fluid", result(1, 2, times(0.999))},
      // a step
      {"no half step", "fluid", [](System& s) { laws(s).half_step = false; }},
      {"a limit dropped", "fluid", [](System& s) { s.limits.clear(); }},
      {"a limit that cuts elsewhere", "fluid",
       [](System& s) { change(s, s.limits.at(0).value, times(0.99)); }},
      {"another order of the axes", "fluid",
       [](System& s) { std::swap(laws(s).orders.at(0), laws(s).orders.at(1)); }},
      {"another share of an axis", "fluid",
       [](System& s) { laws(s).orders.at(0).at(0).weight = 1; }},
      {"a longer step", "fluid", [](System& s) { s.dt *= 1.01; }},
      {"a source of the other sign", "fluid", source(1, times(-1))},
      {"a source dropped", "fluid", [](System& s) { laws(s).source.clear(); }},
      {"a source at another time", "fluid",
       source(3, nodes(named("t"), [](Expr e) { return e + e->arena->real(0.05L); }))},
      {"periodic for open", "fluid",
       [](System& s) { s.lattice.boundary[0] = physics::Boundary::Periodic; }},
      {"what leaves the box twice", "fluid", face(0, 0, times(2))},
      // right sides
      {"sign of a right side", "gas", in("n", times(-1))},
      {"a right side one in a million too large", "gas", in("E", times(1 + 1e-6))},
      {"a source beside the fluxes dropped", "gas",
       in("M_1",
          [](System& s, Expr e) {
            Expr fluxes = e;
            algebra::visit(e, [&](Expr node) {
              if (node.is(Op::Site)) fluxes = e - s.arena->real(0.2L) * s.arena->load(0);
            });
            return fluxes;
          })},
      {"a limiter's other slope", "gas", line(0, "s_n", times(0.9))},
      {"a signal velocity of one side alone", "water", line(0, "br", times(0.5))},
      {"the slowest wave for the fastest", "water", line(0, "bl", times(-1))},
      {"a flux at the wrong face", "water",
       line(0, "Fk_h", [](System&, Expr e) { return turned(e); })},
      {"half a flux", "tube", line(0, "Fk_E", times(0.5))},
      {"a slope of the wrong variable", "tube", line(0, "s_eps", times(-1))},
      {"the model's own limiter", "road", line(0, "s_u", times(1.5))},
      {"a source of an own scheme", "road",
       in("u",
          [](System& s, Expr e) {
            return e + s.arena->real(0.01L) * s.arena->load(laws(s).quantities[0]);
          })},
      {"an energy density a hundred thousandth too large", "number",
       recovered("eps", times(1 + 1e-5))},
      {"a number for a velocity of the other sign", "number", recovered("v", times(-1))},
      {"a flux of momentum a hundred thousandth too large", "number",
       line(0, "Fk_M", times(1 + 1e-5))},
      {"a mirror that does not turn velocities", "gas", [](System& s) { laws(s).odd.clear(); }},
      {"periodic for an open end", "gas",
       [](System& s) { s.lattice.boundary[1] = physics::Boundary::Periodic; }},
      // scale factors
      {"areas and volumes one cell off", "ring",
       in("n", nodes(positions, [](Expr e) { return e + e->arena->integer(1); }))},
      {"faces half a cell off", "ring",
       in("E", nodes(positions, [](Expr e) { return e + e->arena->rational(1, 2); }))},
      {"scale factors at another time", "ring",
       in("M_1", nodes(named("t"), [](Expr e) { return e + e->arena->real(0.001L); }))},
      {"pressure on curved faces dropped", "ring",
       in("M_0",
          [](System& s, Expr e) {
            const Expr p = s.arena->load(laws(s).recovered.at(1).array);
            return algebra::substitute(e, p, s.arena->integer(0));
          })},
      // what relaxes
      {"a relaxation one in a million too fast", "stress", in("s", times(1 + 1e-6))},
      {"a component of a solved vector of the other sign", "stress", recovered("v_1", times(-1))},
      {"a part of a target dropped", "stress",
       in("s", [](System& s, Expr e) { return e - s.arena->real(0.005L) * s.arena->symbol("t"); })},
      {"the dilution of what relaxes counted", "stress",
       in("s",
          [](System& s, Expr e) {
            return e - s.arena->real(0.01L) * s.arena->load(laws(s).quantities.back());
          })},
      {"a derivative in time that is not taken along", "stress",
       in("M_1",
          [](System& s, Expr e) {
            return e + s.arena->real(0.001L) * s.arena->load(laws(s).quantities[0]);
          })},
      {"a relaxation a millionth too fast where iterations end by a tolerance", "hot",
       in("s", times(1 + 1e-6))},
      // fields beside laws
      {"cells of a Laplacian one off", "wall",
       in("pi_phi", nodes(positions, [](Expr e) { return e + e->arena->integer(1); }))},
      {"a field one in a million too large at a face", "wall", line(0, "Pl_phi", times(1 + 1e-6))},
      {"a rate of a field one in a million too large", "wall", in("pi_phi", times(1 + 1e-6))},
      {"a term of the field in a source dropped", "wall",
       in("M_1",
          [](System& s, Expr e) {
            return algebra::rewrite(e, [&](Expr node) {
              const bool slope = node.is(Op::Load) && node->index == 0 && !node->offset.zero();
              return slope ? s.arena->load(0) : node;
            });
          })},
      // states beyond ends
      {"the last cell for a given state", "jet",
       [](System& s) {
         const auto given = [](Expr e) { return e.is(Op::Select) && e.arg(0).is(Op::Less); };
         const auto plain = nodes(given, [](Expr e) { return e.arg(2); });
         for (Derived& value : laws(s).sweeps.at(0).lines) value.value = plain(s, value.value);
       }},
      {"a given state at another time", "held",
       in("M_0", nodes(named("t"), [](Expr e) { return e + e->arena->real(0.01L); }))},
      // expanding boxes
      {"an expansion one in a million too fast", "cosmos", slope_of_a(times(1 + 1e-6))},
      {"an expansion that leaves out the momentum of the fluid", "cosmos",
       slope_of_a([](System& s, Expr e) {
         return algebra::substitute(e, s.arena->load(laws(s).quantities[1]), s.arena->integer(0));
       })},
      {"an expansion that leaves out the energy of the fluid", "cosmos",
       slope_of_a([](System& s, Expr e) {
         return algebra::substitute(e, s.arena->load(laws(s).quantities[0]), s.arena->integer(0));
       })},
      {"a density that a larger box does not dilute", "cosmos",
       in("E", nodes(named("a_slope"), [](Expr e) { return e * e->arena->real(1 + 1e-6L); }))},
      {"a friction with another rate", "cosmos",
       in("pi_phi", nodes(named("a_slope"), [](Expr e) { return e * e->arena->real(1 + 1e-6L); }))},
      {"what leaves the box of a right side", "gas",
       [](System& s) {
         for (auto& scalar : s.scalars)
           if (scalar.symbol == laws(s).outflow.at(laws(s).quantities[0]))
             scalar.rate = s.arena->real(0.5L) * scalar.rate;
       }},
  };
  return kFaults;
}

TEST(Laws, RightModelsAgreeWithTheirText) {
  for (const auto& [name, text] : law_texts()) {
    const auto d = physics::test::derived(text);
    const auto rows = tools::check_derivatives(*d.resolved, *d.system);
    EXPECT_GT(rows.size(), 2u) << name;
    for (const DerivativeRow& row : rows) {
      EXPECT_TRUE(row.right()) << name << "\n" << report(rows);
      const bool of_box = row.variable.starts_with("what le");  // once a state, as a''
      EXPECT_GE(row.points, of_box ? 1 : row.variable == "a''" ? 3 : 6) << name << row.variable;
      if (!row.right()) break;
    }
  }
}

std::string with_square(const std::string& square) {
  return replaced(law_texts().at("number"), "(1/sqrt(1 - v^2))^2", square);
}

// Without a root W^2 has a value beyond the speed of light too, where no state of the model lies:
// there what the root's System makes of it is another number, or none.
TEST(Laws, StatesLieOnTheStartsSideOfAPole) {
  const auto d = physics::test::derived(law_texts().at("number"));
  for (const char* square : {"1/(1 - v^2)", "1/((1 - v^2)^(1/2))^2", "exp(-log(1 - v^2))"}) {
    const auto text = physics::test::derive_text(with_square(square));
    const auto rows = tools::check_derivatives(*text.resolved, *d.system);
    EXPECT_GT(rows.size(), 2u) << square;
    for (const DerivativeRow& row : rows)
      EXPECT_TRUE(row.right() && row.points >= 9) << square << "\n" << report(rows);
  }
}

class PlantedLaw : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedLaw, IsFound) {
  const Fault& fault = faults()[GetParam()];
  const Verdict verdict = judged(law_texts().at(fault.text), fault.plant);
  EXPECT_TRUE(verdict.found) << fault.name << "\n" << verdict.rows;
}

INSTANTIATE_TEST_SUITE_P(Table, PlantedLaw, ::testing::Range<std::size_t>(0, faults().size()),
                         [](const auto& info) { return test_name(faults()[info.param].name); });

TEST(Laws, AtLeastFortyFaultsArePlanted) { EXPECT_GE(faults().size(), 40u); }

}  // namespace
}  // namespace vphi
