#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Slice>(const FilledOutput& output) {
  const program::Program& p = output.program;
  const program::FieldOutput& field = output.field;
  if (field.axis < 0) return output.at_sites(1, {});  // no plane: the whole lattice
  std::int64_t stride = 1;
  for (int axis = 0; axis < field.axis; ++axis) stride *= p.extent[static_cast<std::size_t>(axis)];
  const std::int64_t n = p.extent[static_cast<std::size_t>(field.axis)];
  const std::int64_t blocks = p.sites() / (stride * n);
  io::Table table;
  if (blocks == 1) {  // across the slowest axis: the plane is one piece of memory
    table.values = output.array(0, static_cast<std::size_t>(field.plane * stride),
                                static_cast<std::size_t>(stride));
  } else {
    const auto values = output.array();
    for (std::int64_t block = 0; block < blocks; ++block) {
      const auto first = values.begin() + (block * n + field.plane) * stride;
      table.values.insert(table.values.end(), first, first + stride);
    }
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
