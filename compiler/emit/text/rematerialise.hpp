// Reads values a second time where they would have to be held for long.
//
// A GPU thread has at most 255 registers. Where a long site function needs a value early and late,
// it is cheaper to read it twice from cached memory, and to repeat the few operations that compute
// it (the third row of a link), than to hold it and spill others. The second read is a symbol, so
// that expressions with it are different nodes. Pure; nothing fails.
#pragma once

#include <span>
#include <vector>

#include "compiler/emit/text/register_order.hpp"

namespace vphi::emit {

struct Rematerialised {
  struct Copy {
    algebra::Expr symbol, read;
    int number = 1;  ///< number of this copy among the reads of the value
  };
  std::vector<algebra::Expr> order, roots;
  std::vector<Copy> copies;
};

/// `read`: leaves that are read at the site. Reads, and values of few operations on reads, that are
/// used again after more than `far` other values are recomputed there.
Rematerialised rematerialise(std::span<const algebra::Expr> order,
                             std::span<const algebra::Expr> roots, const IsLeaf& read,
                             const IsLeaf& leaf, std::size_t far);

}  // namespace vphi::emit
