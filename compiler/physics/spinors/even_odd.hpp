// Even-odd preconditioning, for operators that connect a site only with itself and with sites of
// the other parity.
//
// D = R + H, where R acts at the site itself and every term of H connects sites at an odd distance.
// If the extent of the box is even along each axis of H, H has no entries between sites of one
// parity, and the even part of D x = b is eliminated exactly (DeGrand, Comput. Phys. Commun. 52
// (1988) 161):
//   (R - H R^-1 H) x_o = b_o - H R^-1 b_e,   x_e = R^-1 (b_e - H x_o).
// The split, and R^-1 for R = a + b gamma5, are found from the operator's terms; the model says
// nothing about them. The operator is defined at all sites; fields that are 0 at even sites remain
// 0 there.
#pragma once

#include <optional>

#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// Nothing where the terms or the box do not allow it. Uses new array numbers.
std::optional<EvenOddSystem> even_odd_system(const Declared& d, const SpinorForm& form,
                                             const gauge::LinkOf& link, int colours);

/// A spinor of Loads of arrays first, first + 1, ...: re, im of each component.
Value spinor_of_arrays(Arena& arena, int first, int colours, dsl::Span span = {});
/// re, im of each component.
std::vector<Expr> real_parts(Arena& arena, const Value& v, bool complex);

}  // namespace vphi::physics
