#include "compiler/physics/chains/energy_density.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"

namespace vphi::physics {

using algebra::Op;

Expr written_out(const Space& d, Expr density) {
  return algebra::rewrite(density, [&](Expr node) {
    if (node == d.arena().symbol("dx")) return d.grid.dx;
    if (!node.is(Op::Load) || !is_gradient(node->index)) return node;
    return neighbour(gradient_square(d, node->index - gradient_of(0), d.grid.dx), node->offset);
  });
}

Expr energy_written_out(const Space& d, Expr density) {
  Arena& arena = d.arena();
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(density)) {
    const Split split = split_uniform(term);
    const Expr local = split.local;
    const bool square = local.is(Op::Load) && is_gradient(local->index);
    const Expr u = square ? arena.load(local->index - gradient_of(0), local->offset) : Expr{};
    terms.push_back(square && !angle_of(d, u)
                        ? -(split.uniform * u * apply_stencil(arena, d.laplacian, u))
                        : term);
  }
  return written_out(d, arena.make(Op::Add, std::move(terms), density->span));
}

}  // namespace vphi::physics
