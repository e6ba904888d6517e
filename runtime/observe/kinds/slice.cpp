#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Slice>(const FilledOutput& output) {
  const program::Program& p = output.program;
  const program::FieldOutput& field = output.field;
  if (field.axis < 0) return output.at_sites(1, {});  // no plane: the whole lattice
  const auto values = output.array();
  std::int64_t stride = 1;
  for (int axis = 0; axis < field.axis; ++axis) stride *= p.extent[static_cast<std::size_t>(axis)];
  const std::int64_t n = p.extent[static_cast<std::size_t>(field.axis)];
  io::Table table;
  for (std::int64_t block = 0; block < p.sites() / (stride * n); ++block) {
    const auto first = values.begin() + (block * n + field.plane) * stride;
    table.values.insert(table.values.end(), first, first + stride);
  }
  for (int axis = p.dims - 1; axis >= 0; --axis)
    if (axis != field.axis) table.shape.push_back(p.extent[static_cast<std::size_t>(axis)]);
  if (table.shape.empty()) table.shape.push_back(1);
  const double middle = static_cast<double>(n - 1) / 2;
  table.numbers = {{"axis", static_cast<double>(field.axis)},
                   {"plane", static_cast<double>(field.plane)},
                   {"position", (static_cast<double>(field.plane) - middle) * p.dx_physical}};
  table.precision = p.buffers[static_cast<std::size_t>(field.buffer)].precision;
  return table;
}

}  // namespace vphi::observe
