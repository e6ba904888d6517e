#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

bool lies_in_pieces(const program::Program& p, const program::FieldOutput& field) {
  if (field.kind != program::OutputKind::Slice || field.axis < 0) return false;
  const auto extent = p.whole_extent();
  std::int64_t pieces = 1;  // one across the slowest axis
  for (auto axis = static_cast<std::size_t>(field.axis) + 1; axis < extent.size(); ++axis)
    pieces *= extent[axis];
  return pieces <= 64;
}

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
  const auto append = [&](const std::vector<double>& values, std::int64_t first) {
    const auto begin = values.begin() + first;
    table.values.insert(table.values.end(), begin, begin + stride);
  };
  if (lies_in_pieces(p, field)) {
    for (std::int64_t block = 0; block < blocks; ++block)
      append(output.array(0, static_cast<std::size_t>((block * n + field.plane) * stride),
                          static_cast<std::size_t>(stride)),
             0);
  } else {
    const auto values = output.array();
    for (std::int64_t block = 0; block < blocks; ++block)
      append(values, (block * n + field.plane) * stride);
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
