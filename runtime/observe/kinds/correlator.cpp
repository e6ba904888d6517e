#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Correlator>(const FilledOutput& output) {
  const Grid grid = output.grid();
  std::vector<fft::Complex> products(static_cast<std::size_t>(grid.box().modes()));
  if (output.field.spectrum.cross) {
    add_product(grid, output.array(0), output.array(1), 1, products);
  } else {
    for (std::size_t i = 0; i < output.count(); ++i) {
      const auto values = output.array(i);
      add_product(grid, values, values, output.weight(i), products);
    }
  }
  const auto c = correlations(grid, std::move(products));
  const int axis = output.field.axis;
  return point_table(output,
                     axis < 0 ? radial_correlator(grid, c) : axis_correlator(grid, c, axis));
}

}  // namespace vphi::observe
