#include <algorithm>

#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

bool read_in_parts(const program::FieldOutput& field) {
  return field.kind == program::OutputKind::Histogram ||
         (field.kind == program::OutputKind::Slice && field.axis >= 0) ||
         (field.kind == program::OutputKind::Snapshot && !takes_all_sites(field));
}

std::vector<double> plane_of(
    const PlaneOfArray& of, std::int64_t at_once,
    const std::function<std::vector<double>(std::size_t first, std::size_t count)>& read) {
  constexpr std::int64_t kFewPieces = 64;
  // few pieces are read by themselves, many with what is between them
  const std::int64_t apart = of.stride * of.planes,
                     together =
                         of.pieces <= kFewPieces ? 1 : std::max<std::int64_t>(1, at_once / apart);
  std::vector<double> values;
  for (std::int64_t piece = 0; piece < of.pieces; piece += together) {
    const std::int64_t some = std::min(together, of.pieces - piece);
    const auto part = read(static_cast<std::size_t>(piece * apart + of.plane * of.stride),
                           static_cast<std::size_t>((some - 1) * apart + of.stride));
    for (std::int64_t k = 0; k < some; ++k) {
      const auto begin = part.begin() + k * apart;
      values.insert(values.end(), begin, begin + of.stride);
    }
  }
  return values;
}

template <>
io::Table table_of<program::OutputKind::Slice>(const FilledOutput& output) {
  const program::Program& p = output.program;
  const program::FieldOutput& field = output.field;
  if (field.axis < 0) return output.at_sites(1, {});  // no plane: the whole lattice
  std::int64_t stride = 1;
  for (int axis = 0; axis < field.axis; ++axis) stride *= p.extent[static_cast<std::size_t>(axis)];
  const std::int64_t n = p.extent[static_cast<std::size_t>(field.axis)];
  io::Table table;
  table.values =
      plane_of({stride, n, p.sites() / (stride * n), field.plane}, std::int64_t{kSitesAtOnce},
               [&](std::size_t first, std::size_t count) { return output.array(0, first, count); });
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
