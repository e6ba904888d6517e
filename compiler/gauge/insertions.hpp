// Derivatives of bilinear forms of two spinors that stand still, by the links between them.
//
// An operator is a sum of terms weight * spin (x) word: the word leads from x to the site where the
// spinor is read. With X and Y fixed,
//   Re <X, D Y> = sum_x sum_t Re tr(P_t(x) M_t(x)),   M_t(x) = weight Y(x + a_t) (x) (spin^+
//   X(x))^+,
// P_t the product of the word's links and M_t a matrix of colour, summed over spin. It stands where
// the word is closed, and the rule of staples applies: with U' = A U of the link at this site
//   d/dt Re <X, D Y> = Re tr(A U V)   up to what has no part in the algebra,
// V the sum over the letters along the axis of what follows the letter, times M, times what
// precedes it; the conjugate transpose of it for letters that go back. Words of one link are hops:
// V is then a sum of outer products and no links are multiplied. Words may pass a link twice, and
// need not end where the spinor is read. Nothing here fails.
#pragma once

#include <functional>
#include <vector>

#include "compiler/gauge/dirac.hpp"

namespace vphi::gauge {

struct WordTerm {
  SpinMatrix spin;
  Complex weight;
  Offset from;  ///< first site of the word
  Word word;
  Offset at;   ///< site of the spinor
  int of = 0;  ///< whose links the word has (kOtherLinks)
};

/// M of a term at a site.
using MiddleAt = std::function<Matrix(const WordTerm& term, Offset site)>;

/// V for the link of this site along `axis` of the words' field, of the sum of Re tr(P_t M_t); no
/// parts: no word has such a link. All words have the links of one field, `link`.
Matrix insertion_staple(const std::vector<WordTerm>& terms, int axis, const LinkOf& link,
                        const MiddleAt& middle);

}  // namespace vphi::gauge
