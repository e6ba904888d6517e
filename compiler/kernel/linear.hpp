// Expressions as sums of a scalar times a per-site value.
//
// Most of a site's computation is linear in per-site values, with scalar coefficients. The
// decomposition into such terms separates every scalar factor, so that the hoist pass can take it
// out of the kernel. It merges terms with the same per-site part, and means are then taken of
// per-site values without scalar factors. Pure functions; nothing fails.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::kernel {

/// coefficient * site; `site` is null for a term without a per-site part.
struct Term {
  algebra::Expr coefficient;
  algebra::Expr site;
};

/// Terms with different per-site parts, in the order of their first appearance. Scalars are
/// multiplied into sums and taken out of integer powers and stencils; products of two sums over
/// per-site values stay as they are.
std::vector<Term> linear_terms(algebra::Expr expr);

/// The same for several expressions, one after the other; factors that they share are looked at
/// once.
class LinearTerms {
 public:
  std::vector<Term> operator()(algebra::Expr expr);

 private:
  /// Factors known to be one term, and which; nothing where they are several.
  std::unordered_map<const algebra::Node*, std::optional<Term>> singles_;
};

/// The sum of the terms.
algebra::Expr sum_of(algebra::Arena& arena, const std::vector<Term>& terms);

}  // namespace vphi::kernel
