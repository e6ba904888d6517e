#include "runtime/observe/spectrum.hpp"
#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Spectrum>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const int slot = output.field.factor_slot;
  const double factor = slot >= 0 ? output.scalar(slot) : 1;
  std::vector<double> rows;
  for (const SpectrumBin& bin : spectrum_of(grid, output.field.spectrum, sums_of_all(output)))
    rows.insert(rows.end(), {bin.k, factor * bin.power, factor * bin.delta, bin.modes});
  return output.rows(std::move(rows));
}

}  // namespace vphi::observe
