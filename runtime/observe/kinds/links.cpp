#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Links>(const FilledOutput& output) {
  // in the order of runtime/io/configurations/configuration.hpp: [t][z][y][x][mu][row][column][re,
  // im]
  const std::int64_t n = output.field.colours;
  io::Table table = output.at_sites(output.count(), {output.program.dims, n, n, 2});
  for (double& number : table.values) number += 0.0;  // a zero has no sign in a configuration
  return table;
}

}  // namespace vphi::observe
