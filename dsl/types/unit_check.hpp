// Units in a model: determines the base unit and checks that units agree.
#pragma once

#include <optional>
#include <string>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Fills Resolved::units with every unit text of the model, in base units. Can fail: unknown unit.
void read_units(Resolved& resolved);

/// Checks sums, comparisons, equations and arguments of functions where both sides carry a unit,
/// and that the step, the lattice and `every T` are measured in lengths. A state has the unit of
/// its initial value. A number without unit fits anywhere (docs/rules.md rule 9), and so does a
/// value computed from such a number if its unit is then undetermined.
void check_units(Resolved& resolved);

/// The base unit of a model, "GeV" or "m_pl_reduced": all units are powers of it. Empty where the
/// model has no units.
std::string base_unit(const Resolved& resolved);
/// The power of energy in the unit of a value; nothing where it is not determined.
std::optional<double> energy_power(const Resolved& resolved, const Expr& expr);
/// The same of numbers and units alone, without the names of a model.
std::optional<double> written_power(const Expr& expr);
/// The unit of a value in a file: "GeV^4" for a known power, "1" for a ratio and for all values of
/// a model without units, "program" where the power is not determined.
std::string unit_text(const Resolved& resolved, std::optional<double> power);

}  // namespace vphi::dsl
