// Displacements: the change of a variable since the start, including full periods of an angle.
//
//   displacement(x) = x + period*winding - x(start)
//
// The variable gets two companions among the Variables of the System, which no equation moves
// (`frozen`): its value at the start, and for an angle its winding number, the whole number of
// periods that were subtracted. So after 10^6 periods the phase is as exact in single precision as
// at the start, and the displacement is rounded once, when it is read. The companions exist only
// where an equation, an output, an expectation or `until` reads them. Equations are read before
// there are Variables: their companions get array numbers then (Collected::companions), and
// `companions_of_equations` makes the Variables later.
#pragma once

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// `x` consists of variables (own or of the other body of a pair). Anything else is reported and
/// throws Failure.
Value displacement(const Program& d, const Value& x, dsl::Span span);
/// Variables for the companions that equations read, and their initial values. They follow the
/// variables and initial values of the model.
std::vector<Variable> companions_of_equations(const Context& d,
                                              const std::vector<Variable>& variables);
std::vector<InitialValue> starts_of_companions(const Context& d);
/// `msd(x, over = path)` as `mean(norm2(displacement(x)), over = path)`.
dsl::ExprPtr mean_squared_displacement(const dsl::Expr& call);
/// The variable with the winding number of `angle`; null where no displacement uses it.
const Variable* winding_of(const System& system, const Variable& angle);
/// Period of a variable of type `angle` (2 pi) or `angle(period)`.
double angle_period(const Declared& d, const StateField& field);

/// The standard error of an average over axes of the sweep, or of an expression of such averages.
Expr standard_error(const Context& d, Expr average, dsl::Span span);

}  // namespace vphi::physics
