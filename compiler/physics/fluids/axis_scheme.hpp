// Reads the text of a flux scheme for one axis.
//
// The head declares in which form the text uses the flux of a law (docs/rules.md rule 18;
// scheme_head.hpp). The lines of the body are evaluated in order. A line has one value for all
// quantities, one for each quantity, or one for each primitive variable (`primitives(U)`); `@k` is
// the next site along the axis. `U = ...` makes the text a step, `U' = ...` a right side.
//
// Operations keep the order in which they are written, because exact conservation depends on the
// rounding: expressions are made with Arena::raw, and expressions that enter them are put in a
// fixed order first. F(X) and functions of the model at a state X recover the primitive variables
// of X, after the limits; equal X are recovered once. At primitive variables P the quantities
// follow from the forward map of `conserve`, without recovery or limits.
#pragma once

#include <vector>

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/scheme_head.hpp"

namespace vphi::physics {

struct AxisText {
  AxisScheme scheme;
  bool step = false;  ///< the text ends with `U = ...`
  Expr speed;         ///< speed of signals at a site, where the text uses it; otherwise null
};

/// The text of a scheme along one axis; `use` is the line of the model that names it.
AxisText read_axis_scheme(const Equations& d, Lowerer& lower, const std::vector<Law>& laws,
                          const SchemeHead& head, const dsl::Clause& text, const dsl::Clause& use,
                          int axis);

/// Whether the expression is the word `on` or `off`.
bool is_on(const dsl::Expr& e);
bool is_off(const dsl::Expr& e);

}  // namespace vphi::physics
