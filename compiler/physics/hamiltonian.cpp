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
    const bool reduced = algebra::contains(factor, [](Expr e) { return is_reduction(e.op()); });
    if (reduced) d.fail(errors::not_yet(span, "a Hamiltonian with products of totals"));
    if (total) terms.push_back(factor * total);
  }
  if (terms.empty()) d.fail(errors::hamiltonian_not_total(span));
  return arena.make(Op::Add, std::move(terms), span);
}

}  // namespace

/// d/du(x) of the sum over all sites of h. What h holds of |grad u|^2 with a coefficient without a
/// site, c*|grad u|^2, gives -2*c*lap(u), exactly (specs 3.6).
Expr hamiltonian_force(Derivation& d, Expr h, int array, dsl::Span span) {
  Arena& arena = d.arena();
  check_coupled_walls(d, h, span);
  Expr sum = algebra::variation(h, array);
  const Expr square = arena.load(gradient_of(array));
  const bool elsewhere = algebra::contains(h, [&](Expr e) {
    return e.is(Op::Load) && e->index == gradient_of(array) && !e->offset.zero();
  });
  if (!algebra::depends_on(h, square) && !elsewhere) return sum;
  const Expr c = algebra::derivative(h, square);
  if (elsewhere || algebra::per_site(c)) {
    d.fail(errors::not_yet(span, "a gradient energy whose coefficient depends on the site"));
  }
  if (!d.walls_of(array).by_parts(d.grid.dims)) {
    d.fail(errors::not_yet(span, "norm2(grad(u)) in a Hamiltonian with these boundaries"));
  }
  return sum - arena.integer(2) * c * apply_stencil(arena, d.laplacian, arena.load(array));
}

void read_hamiltonian(Derivation& d, Lowerer& lower) {
  if (!d.hamiltonian) return;
  const NamedFact& fact = *d.facts.find("H");
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
    const dsl::Span at = fact.value->span;
    for (std::size_t k = 0; k < q.arrays.size(); ++k) {
      d.rates[q.arrays[k]] = hamiltonian_force(d, h, p.arrays[k], at) / norm;
      d.rates[p.arrays[k]] = -(hamiltonian_force(d, h, q.arrays[k], at) / norm);
      d.rate_spans[q.arrays[k]] = d.rate_spans[p.arrays[k]] = fact.span;
    }
  }
}

}  // namespace vphi::physics
