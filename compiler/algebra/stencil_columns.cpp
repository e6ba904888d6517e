#include "compiler/algebra/stencil_columns.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace vphi::algebra {
namespace {

RowWeights weights_at(const RowPlan& plan, int dx) {
  RowWeights weights;
  for (const RowGroup& group : plan.groups) {
    weights.push_back(0);
    for (const RowClass& points : group.classes)
      if (std::ranges::find(points.dx, dx) != points.dx.end()) weights.back() += points.weight;
  }
  return weights;
}

/// All distances but 0: the nearer first, of two equal ones the negative.
std::vector<int> distances_of(const RowPlan& plan) {
  std::set<std::pair<int, int>> all;
  for (const RowGroup& group : plan.groups)
    for (const RowClass& points : group.classes)
      for (const int dx : points.dx)
        if (dx != 0) all.emplace(std::abs(dx), dx);
  std::vector<int> distances;
  for (const auto& [length, dx] : all) distances.push_back(dx);
  return distances;
}

}  // namespace

ColumnPlan column_plan(RowPlan rows) {
  ColumnPlan plan;
  plan.here = weights_at(rows, 0);
  std::vector<bool> shifted(rows.groups.size());
  for (const int dx : distances_of(rows)) {
    const RowWeights weights = weights_at(rows, dx);
    for (std::size_t g = 0; g < weights.size(); ++g)
      if (weights[g] != 0) shifted[g] = true;
    RowWeights opposite = weights;
    for (std::int64_t& w : opposite) w = -w;
    const auto with = [&](const RowWeights& wanted) {
      return std::ranges::find(plan.shifts, wanted, &ShiftedRows::weights);
    };
    if (const auto same = with(weights); same != plan.shifts.end())
      same->plus.push_back(dx);
    else if (const auto other = with(opposite); other != plan.shifts.end())
      other->minus.push_back(dx);
    else
      plan.shifts.push_back({weights, {dx}});
  }
  for (ShiftedRows& shift : plan.shifts) {
    std::ranges::sort(shift.plus);
    std::ranges::sort(shift.minus);
  }
  plan.shifted_groups = static_cast<int>(std::ranges::count(shifted, true));
  plan.rows = std::move(rows);
  return plan;
}

}  // namespace vphi::algebra
