#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Snapshot>(const FilledOutput& output) {
  const program::FieldOutput& field = output.field;
  if (output.count() == 1) return output.at_sites(1, {});
  std::vector<std::int64_t> inner(field.value.begin(), field.value.end());
  if (field.complex) inner.push_back(2);
  io::Table table = output.at_sites(output.count(), inner);
  if (field.value.size() == 1) table.inner = {"component"};
  if (field.value.size() == 2) table.inner = {"row", "column"};
  if (field.complex) table.inner.emplace_back("part");
  return table;
}

}  // namespace vphi::observe
