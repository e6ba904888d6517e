// Stencils whose rows have different weights along x, as weighted sums of rows (ColumnPlan). The
// 27-point Laplacian then loads five numbers a site after its rows are added, where a sum of three
// shifted buffers loads nine, most of them across the end of a cache line.
#include <fmt/format.h>

#include "compiler/emit/patterns/rows_text.hpp"

namespace vphi::emit {

Code Rows::weighted(const algebra::RowWeights& weights) const {
  Code text;
  for (std::size_t g = 0; g < weights.size(); ++g) {
    if (weights[g] == 0) continue;
    const Code row = code("rows_{}", g + 1);
    if (!text.empty()) text += " + ";
    text += weights[g] == 1 ? row : number(static_cast<double>(weights[g])) + "*" + row;
  }
  return text;
}

// Rows added up at a place, a name for each group.
Code Rows::added_rows(std::size_t array, const algebra::RowPlan& plan, const Code& at, bool edge) {
  Code text;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    text +=
        code("  const {} rows_{} = {};\n", real(), g + 1, added(array, plan.groups[g], at, edge));
  return text;
}

// The row and what it has beyond its ends: the sums at its other end where it is a whole circle.
Code Rows::fill_columns(std::size_t array, const algebra::RowPlan& plan, const Columns& columns) {
  const auto loop = [&](const char* head, const Code& rows, const Code& stores) {
    return code("for (vphi_index i = {}; ++i) {{\n{}{}}}\n", head, rows, stores);
  };
  const std::string beyond = fmt::format("1; i <= {}", reach_);
  Code text = "VPHI_VECTORISE\n" +
              loop("0; i < width", added_rows(array, plan, "x0 + i", false), columns.inside);
  if (circle()) return text + loop(beyond.c_str(), "", columns.turned);
  edges_ = true;
  text += loop(beyond.c_str(), added_rows(array, plan, "x0 - i", true), columns.below);
  text += loop(beyond.c_str(), added_rows(array, plan, "x0 + width - 1 + i", true), columns.above);
  return text;
}

Code Rows::turned(const Code& name) const {
  return code("  {0}[{1} - i] = {0}[{1} + width - i];\n  {0}[{2} + width + i] = {0}[{2} + i];\n",
              name, reach_, reach_ - 1);
}

Code Rows::column_sum(const Read& read, std::size_t array, const algebra::ColumnPlan& plan) {
  Columns columns;
  Code total;
  const auto buffer = [&](const std::string& what, std::int64_t margin) {
    const Code name = code("{}_{}", read.member, what);
    buffers_ += code("{} {}[{}];\n", real(), name, chunk() + 2 * margin);
    return name;
  };
  if (const Code here = weighted(plan.here); !here.empty()) {
    const Code name = buffer("here", 0);
    columns.inside += code("  {}[i] = {};\n", name, here);
    total = code("{}[i]", name);
  }
  for (std::size_t s = 0; s < plan.shifts.size(); ++s) {
    const algebra::ShiftedRows& shift = plan.shifts[s];
    const Code name = buffer(fmt::format("aside{}", s + 1), reach_),
               value = weighted(shift.weights);
    columns.inside += code("  {}[{} + i] = {};\n", name, reach_, value);
    columns.below += code("  {}[{} - i] = {};\n", name, reach_, value);
    columns.above += code("  {}[{} + width + i] = {};\n", name, reach_ - 1, value);
    columns.turned += turned(name);
    const auto points = [&](const std::vector<int>& distances) {
      Code text;
      for (const int dx : distances)
        text += code("{}{}[{} + i]", text.empty() ? "" : " + ", name, reach_ + dx);
      return distances.size() > 1 ? "(" + text + ")" : text;
    };
    total += (total.empty() ? "" : " +\n    ") + points(shift.plus);
    if (!shift.minus.empty()) total += " - " + points(shift.minus);
  }
  sums_ += fill_columns(array, plan.rows, columns);
  return total;
}

}  // namespace vphi::emit
