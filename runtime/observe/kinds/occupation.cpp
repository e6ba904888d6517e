#include "runtime/observe/kinds/kind.hpp"
#include "runtime/observe/spectrum.hpp"

namespace vphi::observe {

template <>
io::Table table_of<program::OutputKind::Occupation>(const FilledOutput& output) {
  const Grid grid = output.grid();
  const BinSums sums = sums_of_all(output);
  const double a = output.scalar(output.field.factor_slot);
  std::vector<double> rows;
  for (const OccupationBin& bin : occupation_of(grid, output.field.spectrum, sums, a))
    rows.insert(rows.end(), {bin.k, bin.number, bin.omega, bin.energy, bin.modes});
  return output.rows(std::move(rows));
}

}  // namespace vphi::observe
