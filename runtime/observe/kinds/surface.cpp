#include "runtime/observe/surface.hpp"

#include <algorithm>

#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {
namespace {

/// The lattice, and after its axes that of time.
Cells cells_of(const FilledOutput& output) {
  const program::Program& p = output.program;
  Cells cells;
  cells.dims = p.dims;
  cells.extent = p.extent;
  cells.bounded = p.dims;
  for (int axis = 0; axis < p.dims; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    cells.spacing[k] = p.counted ? 1 : p.dx_physical;
    cells.first[k] = p.counted ? 0 : -0.5 * static_cast<double>(p.extent[k] - 1) * p.dx_physical;
    cells.joined[k] = std::ranges::count(output.field.open_axes, axis) == 0;
  }
  if (output.field.in_time) {
    const auto t = static_cast<std::size_t>(cells.dims++);
    cells.extent[t] = 2;
    cells.spacing[t] = output.now->time - output.before->time;
    cells.first[t] = output.before->time;
  }
  return cells;
}

/// Time comes first in the columns.
void time_first(std::vector<double>& rows, std::size_t width, std::size_t dims) {
  for (std::size_t row = 0; row < rows.size(); row += width) {
    const auto at = rows.begin() + static_cast<std::ptrdiff_t>(row);
    for (const std::size_t from : {std::size_t{0}, dims}) {
      const auto first = at + static_cast<std::ptrdiff_t>(from);
      const auto last = first + static_cast<std::ptrdiff_t>(dims);
      std::rotate(first, last - 1, last);
    }
  }
}

}  // namespace

template <>
io::Table table_of<program::OutputKind::Surface>(const FilledOutput& output) {
  const bool in_time = output.field.in_time;
  const Arrays own = in_time ? Arrays() : output.arrays(0);
  const Arrays& now = in_time ? *output.now : own;
  const Cells cells = cells_of(output);
  std::vector<std::vector<double>> arrays;
  if (in_time) arrays = output.before->values;
  arrays.resize(now.values.size());
  // the level may differ from one moment to the other
  if (in_time)
    for (double& value : arrays[0]) value -= output.before->level;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (const double value : now.values[i])
      arrays[i].push_back(i == 0 ? value - now.level : value);
  const Surface surface =
      surface_of(cells, arrays[0], 0, std::span(arrays).subspan(1), output.threads);
  std::vector<double> rows = surface.rows;
  const auto dims = static_cast<std::size_t>(cells.dims);
  if (in_time) time_first(rows, 2 * dims + arrays.size() - 1, dims);
  io::Table table = output.rows(std::move(rows));
  const auto above = std::ranges::count_if(now.values[0], [&](double v) { return v > now.level; });
  table.numbers = {{"level", now.level},
                   {"above", static_cast<double>(above)},
                   {"edge", static_cast<double>(surface.at_edge)}};
  if (in_time) table.numbers.emplace_back("t_before", output.before->time);
  return table;
}

}  // namespace vphi::observe
