// The part of an operator at the site, where it holds links: R of D = R + H as matrices in memory.
//
// The product of fields at odd sites, R - H R^-1 H, takes R at odd sites and R^-1 at even ones
// (even_odd.hpp). Both stand in the same arrays, which are computed from the links once before the
// solves. Rows are spin and colour; spins that R does not mix make blocks of their own (two of six
// rows for a clover term of SU(3) in a chiral basis), found from the spin matrices of its terms.
// log|det R| at even sites is kept beside them, and what its derivative needs: with
// dR = sum weight S (x) dP over the terms with links
//   d log|det R| = Re sum weight tr(dP T_S),   T_S = sum_st (R^-1)_(sa,tb) S_ts,
// a matrix of colour for each spin matrix S. Weights may hold fields that move, in terms with links
// and without: by these d log|det R| = Re sum d(weight) tr(P T_S).
//
// As terms of an operator the matrices of colour in memory are links of further fields: `held_form`
// has a term for each pair of spins, and `with_blocks` gives their matrices. Nothing here fails.
#pragma once

#include <utility>
#include <vector>

#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

struct SiteBlocks {
  SpinorForm local;  ///< R
  int spins = 4, colours = 1;
  std::vector<std::vector<int>> blocks;  ///< the spins of each
  /// re, im of the entries of the blocks, row by row: of R at odd sites, of R^-1 at even ones.
  std::vector<int> arrays;
  int logarithm = -1;                    ///< log|det R| at even sites, 0 at odd ones
  std::vector<gauge::SpinMatrix> kinds;  ///< of terms with links or fields
  std::vector<std::vector<int>> traces;  ///< T_S of each, row by row; 0 at odd sites
};

/// Whether the number of the term holds fields that move.
bool holds_fields(const SpinorTerm& term);

using NewValues = std::vector<std::pair<int, Expr>>;

/// Numbers of rows of the blocks.
std::vector<int> rows_of_blocks(const SiteBlocks& blocks);
/// Uses new array numbers.
SiteBlocks site_blocks(const Declared& d, const SpinorForm& local, int colours);
/// R at all sites.
NewValues local_values(const Declared& d, const SiteBlocks& blocks, const gauge::LinkOf& link);
/// From these R^-1 at even sites, and what belongs to log|det R|.
NewValues inverse_values(const Declared& d, const SiteBlocks& blocks);
/// What the arrays of the site hold (R at odd, R^-1 at even sites), or its conjugate transpose, as
/// an operator whose links are those of the fields from `first` on.
SpinorForm held_form(Arena& arena, const SiteBlocks& blocks, int first, bool adjoint);
/// How many fields of links a form and its adjoint have.
constexpr int kHeldFields = 8;
/// `link`, and the matrices of `held_form` from the field `first` on; its adjoint is kHeldFields/2
/// further. `blocks` must outlive the result.
gauge::LinkOf with_blocks(Arena& arena, gauge::LinkOf link, const SiteBlocks& blocks, int first);
/// T_S at a site; no parts: no term with links or fields has this spin matrix.
gauge::Matrix trace_at(Arena& arena, const SiteBlocks& blocks, const gauge::SpinMatrix& spin,
                       algebra::Offset at);
/// Re tr(R_f R^-1) at even sites, 0 at odd ones: R_f the terms of R whose numbers hold fields. With
/// R^-1 from memory its derivative by a field is that of log|det R|. Null: no number holds one.
Expr weighed_fields(const Declared& d, const SiteBlocks& blocks, const gauge::LinkOf& link);

}  // namespace vphi::physics
