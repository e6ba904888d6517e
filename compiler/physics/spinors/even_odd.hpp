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

/// The value of `even_odd` in a call of `solve` or `pseudofermion`, the word `on` or `off`; null
/// where it is not written. Fails where it is anything else.
const dsl::Expr* even_odd_option(const Declared& d, const dsl::Expr& call);

/// D = R + H, and R^-1.
struct PartedOperator {
  SpinorForm local, inverse, hops;
};
/// Nothing where the terms or the box do not allow it; `why`, if given, is then the reason.
std::optional<PartedOperator> parted(const Declared& d, const SpinorForm& form,
                                     std::string* why = nullptr);

/// log|det R| of a site, of an R = a + b gamma5 with spins and colours; a and b may hold fields.
Expr log_of_local(const Declared& d, const PartedOperator& op, int colours);

/// The value at odd sites, another one (0 without one) at even sites.
std::vector<Expr> at_odd(const Declared& d, const std::vector<Expr>& odd,
                         const std::vector<Expr>& even = {});

// Fields of determinants at odd sites, M = R - H R^-1 H there. `op` is D, `adjoint` its adjoint.
/// The field of these arrays at odd sites, and at even ones what makes D of it vanish there:
/// -R^-1 H of it.
std::vector<Expr> lifted(const Declared& d, const PartedOperator& op, const gauge::LinkOf& link,
                         int colours, int first);
/// M y = b: the solution is lifted, so that it solves D x = b with b = 0 at even sites.
EvenOddSystem odd_system(const Declared& d, const PartedOperator& op, const PartedOperator& adjoint,
                         const gauge::LinkOf& link, int colours);
/// M M^+ y = b: the solution is lifted by D^+.
EvenOddSystem odd_square_system(const Declared& d, const PartedOperator& op,
                                const PartedOperator& adjoint, const gauge::LinkOf& link,
                                int colours);
/// M M^+ of the field of these arrays, 0 at even sites: for the residual.
LinearMap odd_square(const Declared& d, const PartedOperator& op, const PartedOperator& adjoint,
                     const gauge::LinkOf& link, int colours, int first);

/// D x = b, with D and its adjoint in parts. Uses new array numbers.
EvenOddSystem even_odd_system(const Declared& d, const PartedOperator& op,
                              const PartedOperator& adjoint, const gauge::LinkOf& link,
                              int colours);

/// A spinor of Loads of arrays first, first + 1, ...: re, im of each component.
Value spinor_of_arrays(Arena& arena, int first, int spins, int colours, dsl::Span span = {});
/// re, im of each component.
std::vector<Expr> real_parts(Arena& arena, const Value& v, bool complex);

}  // namespace vphi::physics
