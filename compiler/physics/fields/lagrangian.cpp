// Equations of second order from a written Lagrangian density l(u, u', t) per physical volume. With
// p_i = dl/du_i' and F_i the derivative of the sum of l over the sites by u_i(x),
//
//   d(a^3 p_i)/dt = a^3 F_i.
//
// The mass matrix M_ij = dp_i/du_j' is solved at each site: u'' = M^-1 (F - dp/dt - 3 H b) - 3 H
// u', where dp/dt is taken at constant u', and b = p - M u' is 0 for quadratic kinetic terms.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/energy_density.hpp"
#include "compiler/physics/fields/canonical_form.hpp"
#include "compiler/physics/fields/curvature_coupling.hpp"
#include "compiler/physics/fields/masses.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// A real number of a field of second order, of those whose equation follows from the Lagrangian.
struct Coordinate {
  const StateField* field;
  int array, velocity;
};

std::vector<Coordinate> coordinates(const Theory& d) {
  std::vector<Coordinate> out;
  for (const StateField& field : d.fields) {
    if (!d.follows_lagrangian(field)) continue;
    for (std::size_t i = 0; i < field.arrays.size(); ++i)
      out.push_back({&field, field.arrays[i], field.velocities[i]});
  }
  return out;
}

bool reads_gradient(Expr e) {
  return algebra::contains(e,
                           [](Expr node) { return node.is(Op::Load) && is_gradient(node->index); });
}

/// A field whose velocity is read at another site, in a derivative or in a sum over sites, which
/// would couple the accelerations of different sites; null: there is none.
const StateField* velocity_elsewhere(const Theory& d, Expr l) {
  for (const StateField& field : d.fields) {
    const auto moves = [&](Expr node) {
      return node.is(Op::Load) && std::ranges::count(field.velocities, node->index) > 0;
    };
    const auto elsewhere = [&](Expr node) {
      if (node.is(Op::Load)) return moves(node) && !(node->offset == algebra::Offset{});
      const bool many = node.is(Op::Stencil) || algebra::reduces_sites(node.op());
      return many && algebra::contains(node.arg(0), moves);
    };
    const bool gradient = algebra::contains(l, [&](Expr node) {
      return node.is(Op::Load) && is_gradient(node->index) &&
             std::ranges::count(field.velocities, node->index - kGradientBase) > 0;
    });
    if (gradient || algebra::contains(l, elsewhere)) return &field;
  }
  return nullptr;
}

}  // namespace

Lagrangian read_lagrangian(const Theory& known, bool keep_parameters) {
  Theory d = known;
  static_cast<Lagrangian&>(d) = {};
  if (moves_links_by_lagrangian(d)) return d;  // read with its Hamiltonian
  if (d.background.metric == Metric::SelfConsistent)
    d.curvature_scalar = unknown_curvature(d.arena());
  for (const NamedFact* fact : d.facts.lagrangians) {
    const std::string what = fmt::format("the Lagrangian `{}`", fact->name);
    Lowerer lower(d, keep_parameters);
    refuse_energies(d, *fact->value, "Lagrangian", true);
    const Expr l = without_curvature(d, lower.real(*fact->value, what), fact->value->span);
    if (const StateField* field = velocity_elsewhere(d, l))
      d.fail(errors::velocity_elsewhere(fact->value->span, field->name));
    check_coupled_walls(d, l, fact->value->span);
    d.lagrangian = d.lagrangian ? d.lagrangian + l : l;
    d.lagrangians.emplace_back(fact, l);
  }
  if (!d.curvature) d.curvature_scalar = {};
  return d;
}

std::map<int, Expr> accelerations(const Theory& d, bool keep_parameters) {
  Arena& arena = d.arena();
  const std::vector<Coordinate> u = coordinates(d);
  const dsl::Span span = d.facts.lagrangians.front()->value->span;

  Theory still = d;  // derivatives in time at constant velocities
  for (const Coordinate& c : u) still.rates[c.velocity] = arena.integer(0);
  Lowerer lower(still, keep_parameters);

  Expr l = d.lagrangian;
  if (d.curvature) l = l + d.curvature_scalar * d.curvature;
  const auto momentum = [&](const Coordinate& c) {
    return algebra::local_derivative(l, arena.load(c.velocity));
  };
  if (std::ranges::any_of(u, [&](const Coordinate& c) { return reads_gradient(momentum(c)); }))
    l = written_out(d, l);

  std::vector<std::vector<Expr>> masses;
  std::vector<Expr> right;
  for (const Coordinate& c : u) {
    const Expr p = momentum(c);
    const std::size_t before = arena.size();
    const Expr force = variation(d, l, Functional::Density, c.array, span);
    mark_origins(d, force, l, c.array, span, before);
    std::vector<Expr> row;
    Expr rest = p;
    for (const Coordinate& other : u) {
      row.push_back(algebra::local_derivative(p, arena.load(other.velocity)));
      rest = rest - row.back() * arena.load(other.velocity);
    }
    Expr sum = force - lower.time_derivative(p, span);
    rest = algebra::expand(rest);
    if (d.expanding() && !rest.is_zero()) sum = sum - arena.integer(3) * d.hubble() * rest;
    masses.push_back(std::move(row));
    right.push_back(sum);
  }
  if (const int row = solve_masses(std::move(masses), right); row >= 0)
    d.fail(errors::no_acceleration(span, u[static_cast<std::size_t>(row)].field->name));
  std::map<int, Expr> result;
  for (std::size_t i = 0; i < u.size(); ++i) {
    Expr sum = right[i];
    if (d.expanding()) sum = sum - arena.integer(3) * d.hubble() * arena.load(u[i].velocity);
    result[u[i].velocity] = sum;
  }
  return result;
}

Value equation_from_lagrangian(const std::map<int, Expr>& accelerations, const StateField& field) {
  Value result{field.rows, field.columns, {}};
  const auto at = [&](std::size_t i) { return accelerations.at(field.velocities[i]); };
  for (const int cell : field.cells) {
    const auto k = static_cast<std::size_t>(cell);
    result.parts.push_back(field.complex ? Component{at(2 * k), at(2 * k + 1)}
                                         : Component{at(k), {}});
  }
  return result;
}

}  // namespace vphi::physics
