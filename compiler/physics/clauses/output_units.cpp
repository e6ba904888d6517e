#include "compiler/physics/clauses/output_units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "dsl/types/unit_check.hpp"

namespace vphi::physics {

std::string unit_of(const Program& d, const dsl::Expr& value) {
  return dsl::unit_text(d.resolved, dsl::energy_power(d.resolved, value));
}

std::string units_of_surface(const Program& d, const Observable& form,
                             const std::vector<std::string>& carried) {
  const int dims = d.grid.dims + (form.form.in_time ? 1 : 0);
  const auto power_of_length = [&](int power) {
    return d.grid.counted || power == 0 ? std::string("1") : dsl::unit_text(d.resolved, -power);
  };
  std::vector<std::string> all;
  for (int k = 0; k < dims; ++k) all.push_back(power_of_length(1));
  for (int k = 0; k < dims; ++k) all.push_back(power_of_length(dims - 1));
  all.insert(all.end(), carried.begin(), carried.end());
  return fmt::format("{}", fmt::join(all, ", "));
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
