// Lattice calculus on expressions: linear operators, neighbours, sums over the lattice.
#pragma once

#include <functional>

#include "compiler/algebra/mover.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// Stencil number `index` applied to any expression: sums are split into terms, uniform factors are
/// taken out, constants give 0 (weights add up to 0 unless `keeps_constants`), products of fields
/// are written out over the neighbours, a stencil of a stencil becomes one stencil.
/// `move` gives the neighbours.
Expr apply_stencil(Arena& arena, int index, Expr e, const algebra::Mover& move);
Expr apply_stencil(Arena& arena, int index, Expr e);

/// e at the neighbour `offset`; pseudo arrays of gradients (gradient_of) are shifted as arrays are.
/// Numbers of the site go on beyond an edge: index(x) is -1 before the first site.
Expr neighbour(Expr e, algebra::Offset offset);

/// e at a neighbour where numbers of the site are those of the site that is read: beyond an edge
/// of an axis that closes on itself (periodic or antiperiodic) those of the other side. What is
/// moved with a sum over all sites (an adjoint, the derivative of a total) needs these.
algebra::Mover around(const Grid& grid);
/// The same along axes that close on themselves for every field.
algebra::Mover around(const Declared& d);

/// A term as uniform * local.
struct Split {
  Expr uniform;  ///< symbols, reductions; numbers too
  Expr local;    ///< the per-site factor; 1 where there is none
};
Split split_uniform(Expr term);

/// Terms of a sum, with uniform factors multiplied into sums of local terms.
std::vector<Expr> flat_terms(Expr e);

/// factor*e with the factor multiplied into every term of a sum.
Expr distribute(Expr factor, Expr e);

/// Mean or Total of e with terms grouped by their uniform factor: <a^-2*x + a^-2*y> is a^-2*<x +
/// y>, and the number in front of the first term is taken out, so that equal averages are equal
/// nodes. Other reductions are not rewritten.
Expr reduce_linear(Arena& arena, algebra::Op op, Expr e, std::int64_t sites);

/// Applies `change` to the arguments of reductions only.
Expr rewrite_reductions(Expr e, const std::function<Expr(algebra::Op, Expr)>& change);

bool is_load(Expr e);

}  // namespace vphi::physics
