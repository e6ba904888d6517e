// Words: paths on the lattice as lists of signed directions. A loop is a closed word.
//
// A word is read from left to right: from a site, +mu multiplies by U_mu(x) and goes on to x + mu,
// -mu goes back to x - mu and multiplies by the adjoint of U_mu(x - mu). So loop(mu, nu, -mu, -nu)
// is the plaquette U_mu(x) U_nu(x+mu) U_mu^+(x+nu) U_nu^+(x). The trace of a loop equals that of
// every cyclic permutation of its letters (at another site), and is the conjugate of that of the
// reversed loop. Staples, forces and conflicts of an action follow from these rules
// (docs/formulas.md 2.1), for any group. Nothing here fails.
#pragma once

#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::gauge {

using algebra::Offset;

/// Links of several fields in one function or word: those of field k have the axes from
/// kOtherLinks*k on.
inline constexpr int kOtherLinks = 16;

struct Step {
  int axis = 0;  ///< 0 ... 3, of the links of another field from kOtherLinks on
  bool back = false;
  friend auto operator<=>(const Step&, const Step&) = default;
};
using Word = std::vector<Step>;

Offset operator+(Offset a, Offset b);
Offset operator-(Offset a, Offset b);
Offset one_step(Step step);

/// The reversed path.
Word inverse(const Word& word);
/// From the first site to the last.
Offset displacement(const Word& word);
bool closed(const Word& word);
/// The word without steps that the next step reverses; in a loop also across its end.
Word reduced(const Word& word);
/// One form for all words whose traces are equal or conjugate: the smallest cyclic permutation of
/// the loop and of its reverse. `reversed`: whether it is one of the reverse.
Word canonical_loop(const Word& loop, bool* reversed = nullptr);
/// Where the canonical form of a loop begins, seen from the loop's first site; a loop that goes
/// through the same word several times has several such sites, of which this is one.
Offset canonical_start(const Word& loop);
/// "+0 +1 -0 -1"
std::string to_text(const Word& word);

/// One link of a walk.
struct LinkAt {
  int axis = 0;
  Offset at;
  bool adjoint = false;
  friend bool operator==(const LinkAt&, const LinkAt&) = default;
};
std::vector<LinkAt> links(const Word& word, Offset from = {});

/// The rest of a loop after one of its links along `axis`: a path from x + axis to x, so that
/// tr(U_axis(x) path) is the trace of the loop, `reversed`: its conjugate. One for each letter
/// along the axis, in their order.
struct Rest {
  Word path;
  bool reversed = false;
};
std::vector<Rest> rests(const Word& loop, int axis);

}  // namespace vphi::gauge
