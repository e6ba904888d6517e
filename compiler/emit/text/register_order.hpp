// The order in which a long site function computes.
//
// Computed from its results backwards, the first entry of a product of matrices comes with all that
// it needs, then the second. In a sum over paths of links every matrix on the way is then started
// before any is finished, and a thread of a GPU would have to hold them all. In the order in which
// the values were written (nodes are numbered as they are made) one matrix follows the other, and
// values that were read are soon not needed any more. NVIDIA's compiler moves loads down to their
// use, but keeps to this order otherwise.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::emit {

/// Whether a node needs no computing where it is used.
using IsLeaf = std::function<bool(const algebra::Node&)>;

/// What the roots are made of, leaves left out, in the order in which it was written down; but what
/// was there long before (the last row of a link, a product that another kernel has too) comes
/// right before its use, where less is held then.
std::vector<algebra::Expr> register_order(std::span<const algebra::Expr> roots, const IsLeaf& leaf);

/// Most numbers held at once where values come in this order: each from where it is made, or read
/// (`read` says which leaves are), to its last use.
int most_live(std::span<const algebra::Expr> order, std::span<const algebra::Expr> roots,
              const IsLeaf& read);

}  // namespace vphi::emit
