// What goes through the faces of cells, found in the results of a scheme's text.
//
// What a quantity gains is a sum in which each flux stands twice, as it is here and with a minus
// one site before. Where the text is in no such form nobody knows what leaves the box.
#pragma once

#include <map>
#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// An operation as it is written, not put in order; zeros and ones vanish.
Expr in_order(algebra::Arena& arena, algebra::Op op, std::vector<Expr> args, dsl::Span span = {});

/// AxisScheme::face of the lines and results of a scheme, `step` where these are new values.
std::map<int, Expr> faces_of(algebra::Arena& arena, const AxisScheme& scheme, bool step);

}  // namespace vphi::physics
