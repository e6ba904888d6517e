// Sweeps: the axes of a model, and numbers that differ from instance to instance.
//
// A swept name stands for a scalar of its instance (docs/rules.md rules 5 and 25): formulas hold
// the symbol of its axis and no kernel is specialised on a value. What must be one number for all
// instances (lattice, units, dt) is refused where it depends on such a symbol (Lowerer::fixed);
// what is derived from numbers before the run (mass of the vacuum, stability) is worked out for
// every value here. An axis of a single value is folded like a param.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/stages/setting.hpp"

namespace vphi::physics {

class ProgramUnits;

/// What a swept name stands for, in a formula.
Expr swept_value(const Setting& d, const std::string& name, dsl::Span span);

/// The axes (places in Sweeps::axes) that an expression depends on.
std::vector<int> axes_of(const Setting& d, Expr e);
/// Made of numbers and swept values alone.
bool known_per_instance(const Setting& d, Expr e);
/// The value in every instance. Precondition: known_per_instance.
std::vector<double> in_every_instance(const Setting& d, Expr e);
/// The values together, in every combination of the axes that any of them depends on.
std::vector<std::vector<double>> in_all_cases(const Setting& d, const std::vector<Expr>& values);
struct Range {
  double low = 0, high = 0;
};
/// Least and largest value over the sweep; nothing where it is not known before the run.
std::optional<Range> range_of(const Setting& d, Expr e);

/// A quantity as one scalar of the instance: without a lattice there is one site, whose value it
/// is.
Expr scalar_quantity(const Setting& d, ProgramUnits& units, Expr physical);
/// An average as a symbol of the system; the value itself where nothing is averaged over.
Expr statistic(const Context& d, Statistic::Kind kind, Expr value, std::vector<int> axes, bool time,
               dsl::Span span);
/// Standard error of f by linear propagation from the means it holds; null where it holds none, or
/// an average whose error is not known.
Expr error_of(const Context& d, Expr f);
/// Holds an average over sweep axes or time, or a first passage.
bool holds_statistics(const Context& d, Expr e);

}  // namespace vphi::physics
