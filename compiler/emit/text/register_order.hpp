// The order of the operations in a long site function.
//
// An order that starts from the results computes the first entry of a product of matrices with
// everything that it needs, then the second. In a sum over paths of links every matrix is then
// started before any is finished, and a GPU thread would have to hold them all. In the order in
// which the nodes were created one matrix follows the other, and values that were read are soon no
// longer needed. NVIDIA's compiler moves loads to their use, but otherwise keeps this order.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::emit {

/// Whether a node is a leaf, which is not computed.
using IsLeaf = std::function<bool(const algebra::Node&)>;

/// The nodes of the roots without leaves, in the order in which they were created. A node that was
/// created much earlier (the last row of a link, a product that another kernel has as well) comes
/// right before its use, if this lowers the number of live values.
std::vector<algebra::Expr> register_order(std::span<const algebra::Expr> roots, const IsLeaf& leaf);

/// The largest number of live values in this order. A value is live from its computation, or from
/// its read (`read`: leaves that are read), to its last use.
int most_live(std::span<const algebra::Expr> order, std::span<const algebra::Expr> roots,
              const IsLeaf& read);

}  // namespace vphi::emit
