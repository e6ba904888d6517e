// Even and odd sites: a system whose operator leads from a site only to sites of the other parity.
//
// D = R + H with R at the site itself and every term of H at an odd distance. On a box that is even
// along each axis that H moves along, H has no entries between sites of one parity, so that the
// even part of D x = b is solved exactly (DeGrand, Comput. Phys. Commun. 52 (1988) 161):
//   (R - H R^-1 H) x_o = b_o - H R^-1 b_e,   x_e = R^-1 (b_e - H x_o).
// Both facts follow from the operator's terms, and R^-1 where R = a + b gamma5; the model's text
// needs no hint. The operator is written for all sites; fields that are 0 at even sites remain
// 0 there.
#pragma once

#include <optional>

#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// Nothing where the terms or the box do not allow it. Takes array numbers of `d.system`.
std::optional<EvenOddSystem> even_odd_system(const Declared& d, const SpinorForm& form,
                                             const gauge::LinkOf& link, int colours);

/// A spinor of Loads of arrays first, first + 1, ...: re, im of each component.
Value spinor_of_arrays(Arena& arena, int first, int colours, dsl::Span span = {});
/// re, im of each component.
std::vector<Expr> real_parts(Arena& arena, const Value& v, bool complex);

}  // namespace vphi::physics
