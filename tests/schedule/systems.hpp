// Systems written by hand for the tests of the schedule, and the library's integrators for them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/interpret/interpret.hpp"
#include "compiler/schedule/schedule.hpp"
#include "compiler/text/integrator.hpp"
#include "dsl/syntax/parse.hpp"
#include "tests/support/places.hpp"

namespace vphi::test {

using algebra::Arena;
using algebra::Expr;
using algebra::Op;

inline std::string std_text(const std::string& name) {
  std::ifstream file(std::string(VPHI_SOURCE_DIR) + "/models/std/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The integrators of `own_text`, followed by those of the library.
inline dsl::Resolved integrators(const std::string& own_text = {}) {
  dsl::Resolved resolved;
  dsl::Diagnostics diagnostics;
  resolved.model = dsl::parse(std::make_shared<dsl::Source>("own.vphi", own_text, 0), diagnostics);
  resolved.library.push_back(
      dsl::parse(std::make_shared<dsl::Source>("integrators.vphi", std_text("integrators.vphi"), 1),
                 diagnostics));
  EXPECT_FALSE(diagnostics.has_errors()) << dsl::render_text(diagnostics, resolved.sources());
  return resolved;
}

inline text::Integrator find(const dsl::Resolved& resolved, const std::string& name) {
  dsl::Diagnostics diagnostics;
  const auto found = text::read_integrator(name, {}, resolved, diagnostics);
  EXPECT_TRUE(found) << dsl::render_text(diagnostics, resolved.sources());
  return found.value_or(text::Integrator{});
}

/// Sets the dynamics to the integrator of this name.
inline void follow(physics::System& system, const dsl::Resolved& resolved,
                   const std::string& name) {
  system.dynamics = physics::Evolution{find(resolved, name), {}};
  system.integrators = text::all_integrators(resolved);
}

/// Second differences along each axis, or the 27-point Laplacian in three dimensions.
inline int laplacian(Arena& arena, int dims, bool isotropic = false) {
  algebra::StencilData data;
  data.name = isotropic ? "iso27" : "star";
  data.dims = dims;
  data.denominator = isotropic ? 30 : 1;
  const int depth = dims > 2 ? 1 : 0, height = dims > 1 ? 1 : 0;
  for (int z = -depth; z <= depth; ++z) {
    for (int y = -height; y <= height; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const int rank = std::abs(x) + std::abs(y) + std::abs(z);
        const std::int64_t iso[] = {-128, 14, 3, 1};
        const std::int64_t star[] = {-2 * dims, 1, 0, 0};
        const std::int64_t weight = (isotropic ? iso : star)[rank];
        if (weight == 0) continue;
        data.offsets.push_back({{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y),
                                 static_cast<std::int16_t>(z), 0}});
        data.weights.push_back(weight);
      }
    }
  }
  return arena.add_stencil(data);
}

inline physics::System empty_system(int dims, std::int64_t n, double dx, double dt) {
  physics::System system;
  system.arena = std::make_shared<Arena>();
  system.lattice.dims = dims;
  for (int i = 0; i < dims; ++i) system.lattice.extent[static_cast<std::size_t>(i)] = n;
  system.lattice.dx = dx;
  system.lattice.dx_physical = dx;
  system.dt = dt;
  system.dt_physical = dt;
  return system;
}

/// A coordinate and its momentum; the rates are set by the caller.
inline void add_pair(physics::System& system, const std::string& name, Expr value, Expr momentum) {
  const int u = system.arrays++, p = system.arrays++;
  system.variables.push_back({name, name, u, physics::Role::Coordinate, p, {}, {}});
  system.variables.push_back({"pi_" + name, name + "'", p, physics::Role::Momentum, u, {}, {}});
  system.initial.push_back({u, value});
  system.initial.push_back({p, momentum});
}

/// u'' = lap(u), one standing wave cos(2 pi mode x/n), physical time t.
inline physics::System wave(std::int64_t n, int mode, double dt) {
  physics::System system = empty_system(1, n, 0.5, dt);
  Arena& arena = *system.arena;
  const Expr phase = arena.real(2 * std::numbers::pi_v<long double> * mode / n) * arena.site(0);
  add_pair(system, "u", arena.make(Op::Cos, {phase}), arena.integer(0));
  system.variables[0].rate = arena.load(1);
  system.variables[1].rate = arena.stencil(laplacian(arena, 1), arena.load(0));
  system.scalars.push_back({"t", arena.integer(1), arena.integer(0), "t"});
  return system;
}

struct Background {
  int alpha = 0;        ///< docs/formulas.md 1.4: d eta = a^-alpha dt
  double coupling = 1;  ///< (f/m_pl)^2
};

/// phi' = a^(alpha-3) pi, pi' = a^(1+alpha) lap(phi) - a^(3+alpha) dV/dphi, a' = b and
/// b' = coupling a^(2 alpha+1)/3 ((alpha-2) K + alpha G + (alpha+1) V); docs/formulas.md 1.4.
inline void expand(physics::System& system, int stencil, const std::vector<Expr>& forces,
                   Expr potential, Background background) {
  Arena& arena = *system.arena;
  const int alpha = background.alpha;
  const Expr a = arena.symbol("a"), b = arena.symbol("b");
  Expr squares = arena.integer(0), gradients = arena.integer(0);
  for (std::size_t i = 0; i < forces.size(); ++i) {
    physics::Variable& u = system.variables[2 * i];
    physics::Variable& p = system.variables[2 * i + 1];
    const Expr field = arena.load(u.array), momentum = arena.load(p.array);
    const Expr lap = arena.stencil(stencil, field);
    u.rate = pow(a, alpha - 3) * momentum;
    p.rate = pow(a, 1 + alpha) * lap - pow(a, 3 + alpha) * forces[i];
    squares = squares + pow(momentum, 2);
    gradients = gradients - field * lap;
  }
  const Expr half = arena.rational(1, 2);
  const Expr K = half * pow(a, -6) * arena.make(Op::Mean, {squares});
  const Expr G = half * pow(a, -2) * arena.make(Op::Mean, {gradients});
  const Expr V = arena.make(Op::Mean, {potential});
  const Expr third = arena.real(background.coupling) * arena.rational(1, 3);
  const Expr rate =
      third * pow(a, 2 * alpha + 1) *
      (arena.integer(alpha - 2) * K + arena.integer(alpha) * G + arena.integer(alpha + 1) * V);
  const Expr start = arena.make(Op::Sqrt, {third * (K + G + V)});
  system.scalars.push_back({"a", b, arena.integer(1), "a"});
  system.scalars.push_back({"b", rate, start, "da/d(eta)"});
  system.scalars.push_back({"t", pow(a, alpha), arena.integer(0), "t"});
}

/// V = phi^2/2 + g2 phi^2 chi^2/2 in 3 dimensions, smooth inhomogeneous start.
inline physics::System preheating(std::int64_t n, double dt, int alpha = 0, double dx = 0.8) {
  physics::System system = empty_system(3, n, dx, dt);
  Arena& arena = *system.arena;
  const auto wave = [&](int axis, Op op) {
    const Expr k = arena.real(2 * std::numbers::pi_v<long double> / n);
    return arena.make(op, {k * arena.site(axis)});
  };
  const Expr tenth = arena.rational(1, 10);
  add_pair(system, "phi", arena.integer(1) + tenth * wave(0, Op::Cos) * wave(1, Op::Sin),
           arena.rational(-7, 10) + tenth * wave(2, Op::Cos));
  add_pair(system, "chi", tenth * (wave(1, Op::Cos) + wave(2, Op::Sin)), tenth * wave(0, Op::Sin));
  const Expr phi = arena.load(0), chi = arena.load(2), g2 = arena.integer(3);
  const Expr potential = arena.rational(1, 2) * (phi * phi + g2 * phi * phi * chi * chi);
  expand(system, laplacian(arena, 3, true), {phi + g2 * phi * chi * chi, g2 * phi * phi * chi},
         potential, {alpha, 1});
  return system;
}

/// V = phi^4/4, homogeneous, alpha = 1; docs/formulas.md 1.9 and 1.10.
inline physics::System quartic(double dt) {
  physics::System system = empty_system(1, 2, 1, dt);
  Arena& arena = *system.arena;
  add_pair(system, "phi", arena.integer(1), arena.real(-0.5000004167L));
  const Expr phi = arena.load(0);
  expand(system, laplacian(arena, 1), {pow(phi, 3)}, arena.rational(1, 4) * pow(phi, 4),
         {1, std::pow(5.6964 / 2.435, 2)});
  return system;
}

/// Adds outputs of the whole synchronised state: a snapshot of each array, a number for each
/// scalar.
inline void observe_state(physics::System& system) {
  physics::OutputClause clause;
  clause.every = 1;
  for (const auto& v : system.variables) {
    physics::Observable o;
    o.kind = physics::Observable::Kind::Snapshot;
    o.name = v.name;
    o.value = system.arena->load(v.array);
    clause.observables.push_back(o);
  }
  for (const auto& s : system.scalars) {
    physics::Observable o;
    o.name = s.symbol;
    o.value = system.arena->symbol(s.symbol);
    clause.observables.push_back(o);
  }
  system.outputs.push_back(clause);
}

/// A system, scheduled and ready to run.
struct Running {
  Running(physics::System s, const std::string& integrator, const std::string& own_text = {})
      : resolved(integrators(own_text)), system(std::move(s)) {
    follow(system, resolved, integrator);
    if (system.outputs.empty()) observe_state(system);
    plan = schedule::schedule(system, resolved, diagnostics);
    EXPECT_TRUE(plan.has_value()) << dsl::render_text(diagnostics, resolved.sources());
    if (plan) machine = std::make_unique<kernel::Interpreter>(*plan);
  }

  /// Synchronised values after an output.
  void look() {
    for (std::size_t i = 0; i < plan->program.outputs.size(); ++i)
      machine->output(static_cast<int>(i));
  }
  double scalar(const std::string& name) const {
    for (const auto& s : plan->program.outputs[0].scalars) {
      if (s.name == name) return machine->scalar(s.slot);
    }
    ADD_FAILURE() << "no scalar " << name;
    return 0;
  }
  const std::vector<double>& field(const std::string& name) const {
    for (const auto& output : plan->program.outputs)
      for (const auto& f : output.fields)
        if (f.name == name) return machine->buffer(f.buffer);
    ADD_FAILURE() << "no field " << name;
    return machine->buffer(0);
  }

  dsl::Resolved resolved;
  physics::System system;
  dsl::Diagnostics diagnostics;
  std::optional<schedule::Plan> plan;
  std::unique_ptr<kernel::Interpreter> machine;
};

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace vphi::test
