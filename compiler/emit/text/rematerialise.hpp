// What a site reads, read again where it would have to be held for long.
//
// A GPU's thread has some 250 registers. Where a long site function needs a value early and
// late, it is cheaper to read it twice from cached memory, and to repeat the few operations that
// compute it (the third row of a link), than to hold it in between and spill others.
// Copies are symbols, so that an expression with a copy is another one. Pure; nothing fails.
#pragma once

#include <span>
#include <vector>

#include "compiler/emit/text/register_order.hpp"

namespace vphi::emit {

struct Rematerialised {
  struct Copy {
    algebra::Expr symbol, read;
    int number = 1;  ///< of the copies of this read
  };
  std::vector<algebra::Expr> order, roots;
  std::vector<Copy> copies;
};

/// `read`: what is read at the site. Reads, and values of few operations on reads alone, that are
/// wanted again after more than `far` others are made anew there.
Rematerialised rematerialise(std::span<const algebra::Expr> order,
                             std::span<const algebra::Expr> roots, const IsLeaf& read,
                             const IsLeaf& leaf, std::size_t far);

}  // namespace vphi::emit
