// Plans: which sums of neighbours a kernel shares (stencil.hpp says what they mean).
#include <algorithm>
#include <cstdlib>
#include <map>

#include "compiler/algebra/stencil.hpp"

namespace vphi::algebra {
namespace {

int distance2(const Offset& o) {
  int sum = 0;
  for (const std::int16_t d : o.d) sum += d * d;
  return sum;
}

/// From the centre outwards, then t, z, y, x: rows that lie side by side in memory come together.
bool nearer(const Offset& a, const Offset& b) {
  if (distance2(a) != distance2(b)) return distance2(a) < distance2(b);
  for (int i = 3; i >= 0; --i) {
    if (a.d[i] != b.d[i]) return a.d[i] < b.d[i];
  }
  return false;
}

struct Nearer {
  bool operator()(const Offset& a, const Offset& b) const { return nearer(a, b); }
};

}  // namespace

RowPlan row_plan(const StencilData& stencil) {
  std::map<Offset, std::map<int, std::int64_t>, Nearer> rows;
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    if (stencil.weights[i] == 0) continue;
    Offset row = stencil.offsets[i];
    row.d[0] = 0;
    rows[row][stencil.offsets[i].d[0]] += stencil.weights[i];
  }
  RowPlan plan;
  std::vector<const std::map<int, std::int64_t>*> weights;  // of each group
  for (const auto& [row, along_x] : rows) {
    const auto same = std::ranges::find_if(weights, [&](const auto* w) { return *w == along_x; });
    if (same != weights.end()) {
      plan.groups[static_cast<std::size_t>(same - weights.begin())].rows.push_back(row);
      continue;
    }
    weights.push_back(&along_x);
    RowGroup group{{row}, {}};
    std::vector<std::pair<int, std::int64_t>> points(along_x.begin(), along_x.end());
    std::ranges::stable_sort(points, {}, [](const auto& p) { return std::abs(p.first); });
    for (const auto& [dx, weight] : points) {
      const auto found = std::ranges::find(group.classes, weight, &RowClass::weight);
      if (found != group.classes.end()) {
        found->dx.push_back(dx);
      } else {
        group.classes.push_back({weight, {dx}});
      }
    }
    for (RowClass& c : group.classes) std::ranges::sort(c.dx);
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

PlanePlan plane_plan(const StencilData& stencil) {
  PlanePlan plan;
  plan.march_axis = stencil.dims - 1;

  // Weights by point within the plane and by plane.
  std::map<Offset, std::map<int, std::int64_t>, Nearer> columns;
  std::map<int, std::vector<std::int64_t>> planes;
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    if (stencil.weights[i] == 0) continue;
    Offset point = stencil.offsets[i];
    const int plane = point.d[plan.march_axis];
    point.d[plan.march_axis] = 0;
    columns[point][plane] += stencil.weights[i];
    planes[plane] = {};
    plan.depth = std::max(plan.depth, std::abs(plane));
    for (const std::int16_t d : point.d) plan.reach = std::max(plan.reach, std::abs(int{d}));
  }

  // Points with equal columns of weights form a class.
  std::vector<const std::map<int, std::int64_t>*> column_of;
  for (const auto& [point, column] : columns) {
    const auto same = std::ranges::find_if(column_of, [&](const auto* c) { return *c == column; });
    if (same != column_of.end()) {
      plan.classes[static_cast<std::size_t>(same - column_of.begin())].points.push_back(point);
    } else {
      column_of.push_back(&column);
      plan.classes.push_back({{point}});
    }
  }

  for (auto& [offset, pattern] : planes) {
    for (const auto* column : column_of) {
      const auto found = column->find(offset);
      pattern.push_back(found == column->end() ? 0 : found->second);
    }
    auto same = std::ranges::find(plan.patterns, pattern);
    if (same == plan.patterns.end()) {
      plan.patterns.push_back(pattern);
      same = plan.patterns.end() - 1;
    }
    plan.planes.push_back({offset, static_cast<int>(same - plan.patterns.begin())});
  }
  return plan;
}

}  // namespace vphi::algebra
