#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

BinSums profile_sums(const FilledOutput& output, fft::SharedTransform& transform) {
  const Grid grid = output.grid();
  const int axis = output.field.axis;
  const std::vector<double> planes = transform.planes(output.array());
  return axis < 0 ? distance_sums(grid, transform, planes, From::Centre)
                  : axis_sums(grid, transform, planes, axis);
}

template <>
io::Table table_of<program::OutputKind::Profile>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const Origin origin = output.program.counted ? Origin::FirstSite : Origin::Middle;
  const BinSums sums = sums_of_all(output);
  return point_table(output, output.field.axis < 0 ? radial_profile(grid, sums)
                                                   : axis_profile(grid, sums, origin));
}

}  // namespace vphi::observe
