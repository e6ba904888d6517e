#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

BinSums correlator_sums(const FilledOutput& output, fft::SharedTransform& transform) {
  const Grid grid = output.grid();
  std::vector<fft::Complex> products(static_cast<std::size_t>(transform.modes()));
  if (output.field.spectrum.cross) {
    add_product(transform, output.array(0), output.array(1), 1, products);
  } else {
    for (std::size_t i = 0; i < output.count(); ++i) {
      const auto values = output.array(i);
      add_product(transform, values, values, output.weight(i), products);
    }
  }
  const auto planes = transform.planes(correlations(grid, transform, std::move(products)));
  const int axis = output.field.axis;
  return axis < 0 ? distance_sums(grid, transform, planes, From::FirstSite)
                  : on_axis(grid, transform, planes, axis);
}

template <>
io::Table table_of<program::OutputKind::Correlator>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const BinSums sums = sums_of_all(output);
  return point_table(
      output, output.field.axis < 0 ? radial_profile(grid, sums) : axis_correlator(grid, sums));
}

}  // namespace vphi::observe
