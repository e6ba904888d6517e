// The text of a flux scheme, read for one axis at a time.
//
// The head says what the text sees of a law (docs/rules.md rule 18; scheme_head.hpp). The body runs
// in order; a line's value is one for all quantities, or one for each of them or for each primitive
// variable (`primitives(U)`), and `@k` is the next site along the axis. `U = ...` makes the text a
// step, `U' = ...` a right side.
//
// Lines keep the operations in the order in which they are written, since the conservation of a
// scheme rests on what rounds how: expressions are made with Arena::raw and everything else that
// goes into them is put in order first. F(X) and functions of the model at a state X recover the
// primitive variables of X (after the limits); the same X is recovered once. Of primitive variables
// P the forward map of `conserve` gives the quantities, and nothing is recovered or limited.
#pragma once

#include <vector>

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/scheme_head.hpp"

namespace vphi::physics {

struct AxisText {
  AxisScheme scheme;
  bool step = false;  ///< it ends in `U = ...`
  Expr speed;  ///< of signals at a site, as far as the text asks for it; null where it does not
};

/// The text of a scheme along one axis; `use` is the line of the model that names it.
AxisText read_axis_scheme(const Equations& d, Lowerer& lower, const std::vector<Law>& laws,
                          const SchemeHead& head, const dsl::Clause& text, const dsl::Clause& use,
                          int axis);

/// The words `on` and `off`.
bool is_on(const dsl::Expr& e);
bool is_off(const dsl::Expr& e);

}  // namespace vphi::physics
