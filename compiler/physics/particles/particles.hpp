// Particles: variables with one value for each body, and sums over bodies and pairs of bodies.
//
// `particles body: N` is a domain of N sites without neighbours; `var x[k]` has one value on each.
// Several clauses are species of one domain, one behind the other in text order; `body[k]` is 1 for
// the bodies of the clause and 0 for the others; masses, charges and couplings are formulas of it.
// While an expression is lowered, an index stands for the body whose value is computed ("own") or
// for the other body of a pair (compiler/algebra/pairs.hpp):
//   sum(f, k) is a total over all bodies; inside the equation of x[i], or inside such a sum, it is
//   a sum over the other body of pairs; sum(f, k, l) runs over all pairs, k < l over each once (f
//   must be symmetric), k != l over pairs of two.
// When expressions are converted to program units, sums over pairs that separate become totals, so
// that a step costs O(N) (`separated_pairs`); `particles body: N, method = pairs` keeps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// The domain that the clauses `particles` declare.
Particles read_particles(const Setting& d);

/// Whether `index` runs over bodies in `e`.
bool is_particle_index(const Declared& d, const dsl::Expr& e, const std::string& index);

/// A PairSum as totals times values of the body, where that is cheaper; otherwise unchanged. `pair`
/// is in program units. The choice is added to the remarks once.
Expr separated_pairs(const Motion& d, Expr pair, bool without_self);

/// Number of the array for a matrix from a file; equal matrices have one array.
int matrix_array(const Context& d, const std::string& file, bool transposed, dsl::Span span);

}  // namespace vphi::physics
