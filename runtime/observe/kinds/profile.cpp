#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Profile>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const int axis = output.field.axis;
  const Origin origin = output.program.counted ? Origin::FirstSite : Origin::Middle;
  return point_table(output, axis < 0 ? radial_profile(grid, output.array())
                                      : axis_profile(grid, output.array(), axis, origin));
}

}  // namespace vphi::observe
