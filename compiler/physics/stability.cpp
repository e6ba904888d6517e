// dt against the largest frequency of the lattice: w_max*dt below the integrator's limit.
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/oscillator.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

struct Fastest {
  double frequency2 = 0;  ///< in program time, at the start
  int stencil = -1;
};

/// The value at the start of a coefficient that may hold a, t and nothing else.
std::optional<double> at_start(ProgramUnits& units, Expr e) {
  const auto number = algebra::constant(units.at_start(e));
  if (!number) return std::nullopt;
  return static_cast<double>(number->real);
}

/// w^2 = -(dx'/dv)(dv'/dx) of the mode with the largest eigenvalue of each Laplacian.
Fastest fastest_mode(Derivation& d, ProgramUnits& units) {
  Fastest fastest;
  const System& system = d.system;
  for (const Variable& u : system.variables) {
    if (u.role != Role::Coordinate) continue;
    const Variable* v = nullptr;
    for (const Variable& other : system.variables) {
      if (other.array == u.partner) v = &other;
    }
    if (!v) continue;
    const auto drift = at_start(units, algebra::derivative(u.rate, d.arena().load(v->array)));
    if (!drift) continue;
    for (const Expr read : algebra::reads(v->rate)) {
      if (!read.is(Op::Stencil) || !read.arg(0).is(Op::Load) || read.arg(0)->index != u.array) {
        continue;
      }
      const auto kick = at_start(units, algebra::derivative(v->rate, read));
      if (!kick) continue;
      const auto& stencil = d.arena().stencil_data(read->index);
      if (stencil.dx_power != -2) continue;
      const double dx = system.lattice.dx;
      const double frequency2 =
          *drift * *kick * algebra::largest_eigenvalue(stencil).value / (dx * dx);
      if (frequency2 > fastest.frequency2) fastest = {frequency2, read->index};
    }
  }
  return fastest;
}

std::string in_units_of_dx(double ratio) { return fmt::format("{:.4g}*dx", ratio); }

}  // namespace

void check_stability(Derivation& d, ProgramUnits& units) {
  System& system = d.system;
  const auto theta = stability_limit(*system.integrator, d.facts.integrators);
  if (!theta) return;
  const Fastest fastest = fastest_mode(d, units);
  if (fastest.stencil < 0) return;
  const double limit = *theta / std::sqrt(fastest.frequency2);
  const double dx = system.lattice.dx;
  system.remarks.push_back(fmt::format("dt = {} is {:.3g} of the stability limit {}",
                                       in_units_of_dx(system.dt / dx), system.dt / limit,
                                       in_units_of_dx(limit / dx)));
  // a step on the limit itself is allowed for rounding's sake
  if (system.dt <= limit * (1 + 1e-6)) return;

  const auto& stencil = d.arena().stencil_data(fastest.stencil);
  const auto eigenvalue = algebra::largest_eigenvalue(stencil);
  std::string value = fmt::format("{:.6g}", eigenvalue.value);
  std::string where;
  if (eigenvalue.exact) {
    value = eigenvalue.rational.den == 1
                ? fmt::format("{}", eigenvalue.rational.num)
                : fmt::format("{}/{}", eigenvalue.rational.num, eigenvalue.rational.den);
    for (int axis = 0; axis < stencil.dims; ++axis) {
      where += fmt::format("{}{}", axis ? "," : "", eigenvalue.at[axis] == 0 ? "0" : "pi");
    }
    where = fmt::format(" (at k*dx = ({}))", where);
  }
  const std::string reason =
      fmt::format("`{}` has the largest eigenvalue {}{}; the limit is {:.5g}*dx/sqrt({})",
                  stencil.name, value, where, *theta, value);
  const dsl::Clause* clause = d.resolved.clause("evolve");
  dsl::Span span = clause->keyword_span;
  std::string name = "the integrator";
  for (const dsl::Item& item : clause->items) {
    if (item.head && item.head->name == "dt") span = item.span;
    if (!item.head && item.value) name = item.value->text;
  }
  d.diagnostics.add(errors::unstable_step(span, in_units_of_dx(system.dt / dx),
                                          in_units_of_dx(limit / dx), name, reason));
}

}  // namespace vphi::physics
