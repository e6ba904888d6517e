// Dirac operators of hops between neighbours, D = local + sum of hops, at one site.
//
// A spinor is a matrix of 4 rows (spin) and N columns (colour); of spinors with fewer rows spin
// matrices act by their first rows and columns (spin_bases.hpp). A hop takes the spinor of a
// neighbour through the link to it, and acts on its spin with a constant matrix; the local part is
// a sum of spin matrices with coefficients. The model defines D in these terms (docs/formulas.md
// 3.1: Wilson's D has (1 -+ gamma_mu) in the hops and 1 + 2i kappa mu gamma5). Derived from them
// are its adjoint, gamma5-hermiticity, the inverse of its local part for even-odd preconditioning,
// and the force of <Y, D X> on a link (docs/formulas.md 3.3). The caller includes boundary phases
// in the weights of hops. Nothing throws.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/gauge/clifford.hpp"
#include "compiler/gauge/link_paths.hpp"

namespace vphi::gauge {

using Spinor = Matrix;
using SpinorOf = std::function<Spinor(Offset at)>;

struct Hop {
  Step step;
  SpinMatrix spin;
  Complex weight;
};
struct LocalTerm {
  SpinMatrix spin;
  Complex weight;
};
struct DiracOperator {
  std::vector<LocalTerm> local;
  std::vector<Hop> hops;
};

/// 1 + 2i kappa mu gamma5 - kappa sum over directions + and - of (1 -+ gamma_mu).
DiracOperator twisted_wilson(const Gammas& gammas, int dims, Expr kappa, Expr twist);

/// weight*spin (x) link applied to a spinor: the spin is projected first where its rank is below 4.
/// A Matrix without parts stands for 1.
Spinor apply_hop(const SpinMatrix& spin, const Matrix& link, const Spinor& psi,
                 std::optional<Complex> weight = std::nullopt);
Spinor apply_spin(const SpinMatrix& spin, const Spinor& psi);

/// (D psi)(x), (local psi)(x), the sum of the hops.
Spinor apply(const DiracOperator& d, const LinkOf& link, const SpinorOf& psi);
Spinor apply_local(const DiracOperator& d, const Spinor& psi);
Spinor apply_hops(const DiracOperator& d, const LinkOf& link, const SpinorOf& psi);

/// D^+; its hops have the opposite direction.
DiracOperator adjoint(const DiracOperator& d);
/// gamma5 D gamma5.
DiracOperator between_gamma5(const DiracOperator& d);
/// The same operator, term by term; coefficients are compared as expressions.
bool same(const DiracOperator& a, const DiracOperator& b);

/// Inverse of the local part where that is a + b gamma5: (a - b gamma5)/(a^2 - b^2).
std::optional<std::vector<LocalTerm>> local_inverse(const DiracOperator& d);

/// sum_s there_sa conj((spin^+ here)_sb), the matrix of colour M with Re <here, spin P there> = Re
/// tr(P M) for every matrix of colour P.
Matrix colour_outer(const SpinMatrix& spin, const Spinor& there, const Spinor& here);

/// W of d/dt Re <Y, D X> = Re tr(A W) for U' = A U of the link of this site along `axis`; X and Y
/// as functions of the site.
Matrix force_of(const DiracOperator& d, int axis, const LinkOf& link, const SpinorOf& x,
                const SpinorOf& y);

}  // namespace vphi::gauge
