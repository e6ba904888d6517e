// Sums of scalar times per-site value.
//
// Most of what a site computes is linear in things that change from site to site, with coefficients
// that do not. Taking an expression apart into such terms puts every scalar factor in front (where
// the hoist pass takes it out of the kernel), merges terms with the same per-site part, and lets a
// mean be taken of per-site values without any scalar in them. Pure functions; nothing fails.
#pragma once

#include <optional>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::kernel {

/// coefficient * site; `site` is null where the term has no value per site.
struct Term {
  algebra::Expr coefficient;
  algebra::Expr site;
};

/// Terms with different per-site parts, in the order of their first appearance. Scalars are
/// multiplied into sums and taken out of integer powers and stencils; products of two sums over
/// per-site values stay as they are.
std::vector<Term> linear_terms(algebra::Expr expr);

/// The sum of the terms.
algebra::Expr sum_of(algebra::Arena& arena, const std::vector<Term>& terms);

}  // namespace vphi::kernel
