#include "runtime/observe/kinds/kind.hpp"
#include "runtime/observe/spectrum.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Occupation>(const FilledOutput& output) {
  const Grid grid = output.grid();
  std::vector<double> rows;
  if (grid.dims <= 3) {
    const std::size_t half = output.count() / 2;
    const auto power = added_power(output, 0, half);
    const auto rate = added_power(output, half, 2 * half);
    const double a = output.scalar(output.field.factor_slot);
    const double mass2 = output.scalar(output.field.mass2_slot);
    for (const OccupationBin& bin : occupation(grid, output.field.spectrum, power, rate, a, mass2))
      rows.insert(rows.end(), {bin.k, bin.number, bin.omega, bin.energy, bin.modes});
  }
  return output.rows(std::move(rows));
}

}  // namespace vphi::observe
