// A stencil as few weighted sums of rows that are shifted along x.
//
// In a RowPlan each group of rows is shifted by itself. Where groups have different weights along
// x, the weighted sum of all groups at one distance is made first, and only that is shifted. For
// the 27-point Laplacian, with the rows c in the centre, f (faces) and d (diagonals) added up,
//
//     value = here(x) + (aside(x - 1) + aside(x + 1)),
//     here = -128 c + 14 f + 3 d,  aside = 14 c + 3 f + d.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/algebra/stencil.hpp"

namespace vphi::algebra {

/// The weight of each group of a RowPlan, in their order.
using RowWeights = std::vector<std::int64_t>;

/// Distances along x at which the rows have these weights (`plus`) or the opposite ones (`minus`).
struct ShiftedRows {
  RowWeights weights;
  std::vector<int> plus = {}, minus = {};  ///< ascending
};

/// value = sum of the rows with the weights `here`, then for each of `shifts` the weighted sum of
/// rows, added up at its distances: all sums from left to right.
struct ColumnPlan {
  RowPlan rows;
  RowWeights here;                  ///< all 0: no term
  std::vector<ShiftedRows> shifts;  ///< ordered by their least distance
  int shifted_groups = 0;           ///< groups of rows that a RowPlan shifts
  /// Whether fewer sums are shifted than in the RowPlan.
  bool shorter() const { return static_cast<int>(shifts.size()) < shifted_groups; }
};
ColumnPlan column_plan(RowPlan rows);

/// As `apply` of a RowPlan, in the order of this plan.
template <class Real, class Read>
Real apply(const ColumnPlan& plan, const Read& read) {
  const auto weighted = [&](const RowWeights& weights, int dx) {
    Real sum = 0;
    bool first = true;
    for (std::size_t g = 0; g < weights.size(); ++g) {
      if (weights[g] == 0) continue;
      Real added = 0;
      for (std::size_t i = 0; i < plan.rows.groups[g].rows.size(); ++i) {
        Offset at = plan.rows.groups[g].rows[i];
        at.d[0] = static_cast<std::int16_t>(dx);
        added = i == 0 ? read(at) : added + read(at);
      }
      const Real term = weights[g] == 1 ? added : static_cast<Real>(weights[g]) * added;
      sum = first ? term : sum + term;
      first = false;
    }
    return sum;
  };
  const auto at_all = [&](const RowWeights& weights, const std::vector<int>& distances) {
    Real sum = weighted(weights, distances[0]);
    for (std::size_t i = 1; i < distances.size(); ++i) sum = sum + weighted(weights, distances[i]);
    return sum;
  };
  Real value = weighted(plan.here, 0);
  bool first = plan.here == RowWeights(plan.here.size(), 0);
  for (const ShiftedRows& shift : plan.shifts) {
    const Real sum = at_all(shift.weights, shift.plus);
    value = first ? sum : value + sum;
    first = false;
    if (!shift.minus.empty()) value = value - at_all(shift.weights, shift.minus);
  }
  return value;
}

/// In the order in which loops over rows add: of the plan that shifts fewer sums.
template <class Real, class Read>
Real sum_of_rows(const ColumnPlan& plan, const Read& read) {
  return plan.shorter() ? apply<Real>(plan, read) : apply<Real>(plan.rows, read);
}

}  // namespace vphi::algebra
