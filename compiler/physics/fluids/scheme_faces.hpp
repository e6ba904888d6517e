// Fluxes through the faces of cells, found in the results of a scheme's text.
//
// The change of a quantity is a sum that contains each flux twice: as it is at this site, and with
// the opposite sign shifted by one site. Where the text is not of this form, the amount that leaves
// the box is not known.
#pragma once

#include <map>
#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// An operation in the order in which it is written; zeros and ones are removed.
Expr in_order(algebra::Arena& arena, algebra::Op op, std::vector<Expr> args, dsl::Span span = {});

/// AxisScheme::face from the lines and results of a scheme. `step`: the results are new values, not
/// rates.
std::map<int, Expr> faces_of(algebra::Arena& arena, const AxisScheme& scheme, bool step);

}  // namespace vphi::physics
