#include "runtime/observe/spectrum.hpp"
#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Spectrum>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const program::SpectrumForm& form = output.field.spectrum;
  std::vector<double> power;
  if (grid.dims <= 3)
    power = form.cross ? cross_power(grid, output.array(0), output.array(1))
                       : added_power(output, 0, output.count());
  const int slot = output.field.factor_slot;
  const double factor = slot >= 0 ? output.scalar(slot) : 1;
  std::vector<double> rows;
  for (const SpectrumBin& bin : spectrum(grid, form, power))
    rows.insert(rows.end(), {bin.k, factor * bin.power, factor * bin.delta, bin.modes});
  return output.rows(std::move(rows));
}

}  // namespace vphi::observe
