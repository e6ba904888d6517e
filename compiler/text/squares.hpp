// Texts of solvers for operators that are a product with its adjoint, A = B B^+.
//
// There <p, A p> is |B^+ p|^2, which is known before B is applied. A text that takes the total of
// re(dot(p, q)) with q = A(p) gets that of norm2 of B^+ p in its place: what follows from the total
// can then be computed in the sweep that makes q, and q itself need not go through memory.
#pragma once

#include <memory>

#include "compiler/model/texts.hpp"

namespace vphi::text {

/// What such a text calls with p: the field B^+ p. No model can write this name.
inline constexpr const char* kHalfway = "adj(B)";

/// The text for A = B B^+; one that takes no such total is as it was. Nothing fails.
std::shared_ptr<const Solver> for_squares(const Solver& solver);

}  // namespace vphi::text
