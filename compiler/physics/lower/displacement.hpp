// Displacements: how far a variable has come since the start, on the line and not on the circle.
//
//   displacement(x) = x + period*turns - x(start)
//
// A variable that is asked for gets two companions among the Variables of the System, which no
// equation moves (`frozen`): its value at the start, and for an angle the number of turns that were
// folded away, a whole number. So a path of 10^6 turns in single precision has the phase of a short
// one, and its displacement is rounded once, when it is looked at. The companions exist only where
// an equation, an output, a promise or `until` names them. Equations are read before there are
// Variables: numbers of their companions are given out then (Collected::companions), and
// `companions_of_equations` makes the Variables.
#pragma once

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// `x` holds bare variables (own or of the other body of a pair). Throws Failure, reported, where
/// it holds anything else.
Value displacement(const Program& d, const Value& x, dsl::Span span);
/// Variables for the companions that equations name, and the values they start from. After the
/// variables and their initial values.
std::vector<Variable> companions_of_equations(const Context& d,
                                              const std::vector<Variable>& variables);
std::vector<InitialValue> starts_of_companions(const Context& d);
/// `msd(x, over = path)` as `mean(norm2(displacement(x)), over = path)`.
dsl::ExprPtr mean_squared_displacement(const dsl::Expr& call);
/// The variable that counts how often `angle` was folded; null where nobody asks.
const Variable* winding_of(const System& system, const Variable& angle);
/// Period of a variable of type `angle` (2 pi) or `angle(period)`.
double angle_period(const Declared& d, const StateField& field);

/// The standard error of an average over axes of the sweep, or of what is made of such averages.
Expr standard_error(const Context& d, Expr average, dsl::Span span);

}  // namespace vphi::physics
