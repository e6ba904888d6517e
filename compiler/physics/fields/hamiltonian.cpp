// A written Hamiltonian on the lattice: H = total(h), q' = dH/dp, p' = -dH/dq, neighbours counted.
#include <optional>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/fields/canonical_form.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/fields/link_motion_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/theory.hpp"

namespace vphi::physics {

using algebra::Op;

// Of c*total(h_i) it is c*h_i; c may hold other totals. Any other
// function of totals is divided evenly among the sites. Numbers are dropped: their derivatives are
// 0.
Expr hamiltonian_density_of(const Space& d, Expr h, dsl::Span span) {
  if (!d.grid.present && algebra::per_site(h)) return h;  // one site: its value is the total
  Arena& arena = d.arena();
  std::vector<Expr> terms;
  const std::vector<Expr> parts =
      h.is(Op::Add) ? std::vector<Expr>(h.args().begin(), h.args().end()) : std::vector<Expr>{h};
  for (const Expr part : parts) {
    if (algebra::per_site(part)) d.fail(errors::hamiltonian_not_total(span));
    Expr factor = arena.integer(1), total;
    const std::vector<Expr> factors =
        part.is(Op::Mul) ? std::vector<Expr>(part.args().begin(), part.args().end())
                         : std::vector<Expr>{part};
    for (const Expr f : factors) {
      if (f.is(Op::Total) && !total)
        total = f.arg(0);
      else
        factor = factor * f;
    }
    if (total) {
      terms.push_back(factor * total);
    } else if (algebra::contains(part, [](Expr e) { return algebra::reduces_sites(e.op()); })) {
      terms.push_back(part / arena.integer(d.grid.sites()));
    }
  }
  if (terms.empty()) d.fail(errors::hamiltonian_not_total(span));
  return arena.make(Op::Add, std::move(terms), span);
}

Expr hamiltonian_force(const Space& d, Expr h, int array, dsl::Span span) {
  check_coupled_walls(d, h, span);
  const bool gradient = algebra::contains(
      h, [&](Expr node) { return node.is(Op::Load) && node->index == gradient_of(array); });
  if (gradient && !d.walls_of(array).by_parts(d.grid.dims)) {
    d.fail(errors::not_yet(span, "norm2(grad(u)) in a Hamiltonian with these boundaries"));
  }
  const std::size_t before = d.arena().size();
  const Expr force = variation(d, h, Functional::Density, array, span);
  mark_origins(d, force, h, array, span, before);
  return force;
}

namespace {

EnergyText text_of_hamiltonian(const Theory& d) {
  const NamedFact& fact = *d.facts.find("H");
  const auto read = [&fact](Lowerer& lower, const Scope& scope) {
    return lower.real(*fact.value, "H", scope);
  };
  return {d, read, true, {}, fact.span, fact.value->span};
}

Expr written_density(const Theory& d, const EnergyText& text, bool keep_parameters) {
  Lowerer lower(d, keep_parameters);
  return hamiltonian_density_of(d, text.read(lower, {}), text.value);
}

EnergyText text_of(const CanonicalForm& form) {
  const NamedFact& fact = *form.reading.facts.lagrangians.front();
  const auto read = [&form](Lowerer& lower, const Scope& scope) {
    return lagrangian_at_rest(form.reading, lower, scope);
  };
  return {form.reading, read, false, form.kinetic, fact.span, fact.value->span};
}

}  // namespace

Hamiltonian read_hamiltonian(const Theory& d, bool keep_parameters) {
  Hamiltonian result = d;
  if (!d.hamiltonian) return result;
  std::optional<CanonicalForm> canonical;
  if (moves_links_by_lagrangian(d)) canonical.emplace(canonical_form(d, keep_parameters));
  const EnergyText text = canonical ? text_of(*canonical) : text_of_hamiltonian(d);
  const Expr h = canonical ? canonical->kinetic + canonical->at_rest
                           : written_density(d, text, keep_parameters);
  result.hamiltonian_density = h;
  if (canonical) result.momenta = canonical->momenta;

  std::vector<const StateField*> line;
  for (const StateField& field : d.fields) {
    if (field.hamiltonian) line.push_back(&field);
  }
  if (line.size() % 2 && line.back()->matrices())
    d.fail(errors::link_momentum_type(line.back()->span, line.back()->name,
                                      line.back()->links->group.n));
  if (line.size() % 2) d.fail(errors::hamiltonian_odd(line.back()->span, line.back()->name));
  for (std::size_t i = 0; i < line.size(); i += 2) {
    const StateField &q = *line[i], &p = *line[i + 1];
    const bool turned = q.matrices() && p.algebra && p.link;
    const bool fits = q.matrices() ? turned && p.algebra->n == q.links->group.n
                                   : p.algebra == q.algebra && !p.matrices();
    if (!fits) d.fail(errors::link_momentum_type(p.span, q.name, q.links ? q.links->group.n : 0));
    if (turned) {
      add_link_rates(d, h, text, keep_parameters, q, p, result);
      continue;
    }
    if (q.arrays.size() != p.arrays.size())
      d.fail(errors::momentum_shape(p.span, p.name, q.name, p.arrays.size(), q.arrays.size()));
    const Expr norm = d.arena().integer(q.norm());
    const dsl::Span at = text.value;
    for (std::size_t k = 0; k < q.arrays.size(); ++k) {
      const std::size_t before = d.arena().size();
      result.rates[q.arrays[k]] = hamiltonian_force(d, h, p.arrays[k], at) / norm;
      result.rates[p.arrays[k]] = -(hamiltonian_force(d, h, q.arrays[k], at) / norm);
      mark_origins(d, result.rates[p.arrays[k]], h, q.arrays[k], at, before);
      if (q.links)
        for (const int array : {q.arrays[k], p.arrays[k]})
          result.rates[array] = of_moving(d, q, static_cast<int>(k), result.rates[array]);
      result.rate_spans[q.arrays[k]] = result.rate_spans[p.arrays[k]] = text.line;
    }
  }
  return result;
}

}  // namespace vphi::physics
