#include "compiler/physics/clauses/output_units.hpp"

#include <optional>

#include "dsl/types/unit_check.hpp"

namespace vphi::physics {

std::string unit_of(const Program& d, const dsl::Expr& value) {
  return dsl::unit_text(d.resolved, dsl::energy_power(d.resolved, value));
}

std::string units_of(const Program& d, const Observable& form, const dsl::Expr& value) {
  using program::ColumnUnit;
  const std::optional<double> power = dsl::energy_power(d.resolved, value);
  const auto unit = [&](std::optional<double> p) { return dsl::unit_text(d.resolved, p); };
  const auto times = [&](double factor) {
    return unit(power ? std::optional<double>(factor * *power) : std::nullopt);
  };
  const auto of_column = [&](ColumnUnit column) -> std::string {
    switch (column) {
      case ColumnUnit::Value:
        return unit(power);
      case ColumnUnit::Squared:
        return times(2);
      case ColumnUnit::Inverse:
        return times(-1);
      case ColumnUnit::WaveNumber:
        return unit(1);
      case ColumnUnit::Distance:
        return unit(-1);
      case ColumnUnit::Place:
        return d.grid.counted && form.form.axis >= 0 ? "1" : unit(-1);
      case ColumnUnit::Defined:
        return unit({});
      case ColumnUnit::Number:
        break;
    }
    return "1";
  };
  const program::OutputRow& row = program::row_of(*form.kind);
  if (form.form.histogram.size() > 1) return "1";  // a map of counts
  std::string text = of_column(row.column[0].unit);
  for (std::size_t i = 1; i < row.width; ++i) text += ", " + of_column(row.column[i].unit);
  return text;
}

}  // namespace vphi::physics
