// A written Hamiltonian on the lattice: H = total(h), q' = dH/dp, p' = -dH/dq, neighbours counted.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// h of H = sum of c*total(h_i); numbers without a site are dropped (they move nothing).
Expr density_of(Derivation& d, Expr h, dsl::Span span) {
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
    const bool reduced = algebra::contains(factor, [](Expr e) { return is_reduction(e.op()); });
    if (reduced) d.fail(errors::not_yet(span, "a Hamiltonian with products of totals"));
    if (total) terms.push_back(factor * total);
  }
  if (terms.empty()) d.fail(errors::hamiltonian_not_total(span));
  return arena.make(Op::Add, std::move(terms), span);
}

}  // namespace

void read_hamiltonian(Derivation& d, Lowerer& lower) {
  if (!d.hamiltonian) return;
  const NamedFact& fact = *d.facts.find("H");
  if (d.expanding()) d.fail(errors::not_yet(fact.span, "a Hamiltonian in an expanding box"));
  const Expr h = density_of(d, lower.real(*fact.value, "H"), fact.value->span);
  d.hamiltonian_density = h;

  std::vector<const StateField*> line;
  for (const StateField& field : d.fields) {
    if (field.hamiltonian) line.push_back(&field);
  }
  if (line.size() % 2) d.fail(errors::hamiltonian_odd(line.back()->span, line.back()->name));
  for (std::size_t i = 0; i < line.size(); i += 2) {
    const StateField &q = *line[i], &p = *line[i + 1];
    if (q.arrays.size() != p.arrays.size()) d.fail(errors::hamiltonian_odd(p.span, q.name));
    const Expr norm = d.arena().integer(q.norm());
    for (std::size_t k = 0; k < q.arrays.size(); ++k) {
      d.rates[q.arrays[k]] = algebra::variation(h, p.arrays[k]) / norm;
      d.rates[p.arrays[k]] = -(algebra::variation(h, q.arrays[k]) / norm);
      d.rate_spans[q.arrays[k]] = d.rate_spans[p.arrays[k]] = fact.span;
    }
  }
}

}  // namespace vphi::physics
