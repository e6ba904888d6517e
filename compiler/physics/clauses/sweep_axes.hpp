// Sweeps: the axes of a model, and numbers that differ between instances.
//
// A swept name stands for a scalar of its instance (docs/rules.md rules 5 and 25): formulas contain
// the symbol of its axis, and no kernel is specialised on a value. Quantities that must be one
// number for all instances (lattice, units, dt) may not depend on such a symbol (Lowerer::fixed).
// Quantities that are computed before the run (mass of the vacuum, stability) are computed here for
// every value. An axis of a single value is folded, as a param is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/stages/setting.hpp"

namespace vphi::physics {

class ProgramUnits;

/// The symbol or number that a swept name stands for in a formula.
Expr swept_value(const Setting& d, const std::string& name, dsl::Span span);

/// The axes (indices into Sweeps::axes) that an expression depends on.
std::vector<int> axes_of(const Setting& d, Expr e);
/// Whether an expression contains only numbers and swept values.
bool known_per_instance(const Setting& d, Expr e);
/// The value in every instance. Precondition: known_per_instance.
std::vector<double> in_every_instance(const Setting& d, Expr e);
/// All values, for every combination of the axes that any of them depends on.
std::vector<std::vector<double>> in_all_cases(const Setting& d, const std::vector<Expr>& values);
struct Range {
  double low = 0, high = 0;
};
/// Least and largest value over the sweep; nothing where it is not known before the run.
std::optional<Range> range_of(const Setting& d, Expr e);

/// A quantity as a scalar of the instance. Without a lattice it is the value at the single site.
Expr scalar_quantity(const Setting& d, ProgramUnits& units, Expr physical);
/// A symbol for an average; the value itself where there are neither axes nor time to average over.
Expr statistic(const Context& d, Statistic::Kind kind, Expr value, std::vector<int> axes, bool time,
               dsl::Span span);
/// Standard error of f by linear propagation from the means in it; null where it contains none, or
/// an average of unknown error.
Expr error_of(const Context& d, Expr f);
/// Whether e contains an average over sweep axes or time, or a first passage.
bool holds_statistics(const Context& d, Expr e);

}  // namespace vphi::physics
