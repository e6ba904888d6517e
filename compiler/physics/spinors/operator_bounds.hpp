// Bounds of the singular values of an operator on spinors, for any links.
//
// D is a sum of terms number * spin (x) path; a path of links is unitary, so that a term has the
// norm sup|number| * |spin|. The norm of a sum is at most the sum of the norms; terms A and B with
// A^+ B = A B^+ = 0 together have the larger of both (the hops (1 - gamma) and (1 + gamma) of one
// axis). With R the terms at the site without links and h the norm of the others, the singular
// values of D are between s_min(R) - h and s_max(R) + h. Where a term B at the site has
// A B^+ + B A^+ = 0 with the sum A of all others, D D^+ = A A^+ + B B^+: squares add up, for m + H
// with H^+ = -H (staggered quarks) and for a term i gamma5 beside a gamma5-hermitian rest (twisted
// masses). These relations are found from the terms.
//
// At odd sites M = R - H R^-1 H is bounded by the sizes of R and H, and from below also by D:
// M^-1 is the part of D^-1 there.
#pragma once

#include <optional>

#include "compiler/physics/spinors/even_odd.hpp"

namespace vphi::physics {

struct SingularValues {
  double least = 0;  ///< 0: no bound from below
  double most = 0;
};

/// Nothing where a number of the operator is not known before a run.
std::optional<SingularValues> singular_values(const Declared& d, const SpinorForm& form);
/// Of M = R - H R^-1 H at odd sites; `whole`: of D.
std::optional<SingularValues> singular_values_at_odd(const Declared& d, const PartedOperator& parts,
                                                     const SingularValues& whole);

}  // namespace vphi::physics
