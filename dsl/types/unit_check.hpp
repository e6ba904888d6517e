// Units in a model: which base they are measured in, and whether they agree.
#pragma once

#include <optional>
#include <string>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Fills Resolved::units with every unit text of the model, in base units. Can fail: unknown unit.
void read_units(Resolved& resolved);

/// Checks sums, comparisons and arguments of functions where both sides carry a unit, and that the
/// step and the lattice are measured in lengths. A number without unit fits anywhere
/// (docs/rules.md rule 9), and so does a value computed from one in a way that leaves its
/// unit open.
void check_units(Resolved& resolved);

/// What numbers of a model with units are powers of: "GeV", "m_pl_reduced"; empty where the model
/// has no units.
std::string base_unit(const Resolved& resolved);
/// The power of energy that a value has; nothing where the text leaves it open.
std::optional<double> energy_power(const Resolved& resolved, const Expr& expr);
/// The unit of a value in a file: "GeV^4" of a known power, "1" of a ratio and of all values of a
/// model without units, and "program" of an open one: powers of the base.
std::string unit_text(const Resolved& resolved, std::optional<double> power);

}  // namespace vphi::dsl
