#include "compiler/physics/clauses/output_units.hpp"

#include <optional>

#include "dsl/types/unit_check.hpp"

namespace vphi::physics {

std::string unit_of(const Program& d, const dsl::Expr& value) {
  return dsl::unit_text(d.resolved, dsl::energy_power(d.resolved, value));
}

std::string units_of(const Program& d, Observable::Kind kind, const Observable& form,
                     const dsl::Expr& value) {
  using Kind = Observable::Kind;
  const std::optional<double> power = dsl::energy_power(d.resolved, value);
  const auto unit = [&](std::optional<double> p) { return dsl::unit_text(d.resolved, p); };
  const auto times = [&](double factor) {
    return power ? std::optional<double>(factor * *power) : std::nullopt;
  };
  const std::string length = d.grid.counted ? "1" : unit(-1);
  switch (kind) {
    case Kind::Spectrum:  // P and Delta have those of their definition (`type`, `version`)
      return unit(1) + ", " + unit({}) + ", " + unit({}) + ", 1";
    case Kind::Occupation:
      return unit(1) + ", 1, " + unit(1) + ", " + unit({}) + ", 1";
    case Kind::Histogram:
      if (form.form.histogram.size() > 1) return "1";
      return unit(power) + ", " + unit(power) + ", 1, " + unit(times(-1));
    case Kind::Profile:
      return (form.form.axis < 0 ? unit(-1) : length) + ", " + unit(power) + ", 1";
    case Kind::Correlator:
      return unit(-1) + ", " + unit(times(2)) + ", 1";
    case Kind::Links:
      return "1";
    case Kind::Scalar:
    case Kind::Slice:
    case Kind::Snapshot:
      break;
  }
  return unit(power);
}

}  // namespace vphi::physics
