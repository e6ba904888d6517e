// The longest chain of operations of a site that wait for each other. However many sites a device
// takes at a time, a launch takes as long as this chain.
//
// Sums and products are taken from left to right, as they are emitted. A product that only an
// addition uses is one instruction with it. What is the same at all sites, reads of memory, signs
// and selects are free, so that the chain is a lower bound.
#pragma once

#include <span>

#include "compiler/algebra/expr.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// `left_out`: values that count as known, such as the later rounds of a loop that may end early.
Chain longest_chain(std::span<const algebra::Expr> roots, std::span<const algebra::Expr> left_out);

}  // namespace vphi::kernel
