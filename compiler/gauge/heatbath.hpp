// Updates of one link in the field of the others: heatbath, overrelaxation, Metropolis.
//
// The weight of a link U is exp(strength Re tr(U V)), V the sum of its staples (with the ordinary
// weight of the Wilson action, strength = beta/N). SU(N) is hit in its SU(2) subgroups, rows p < q,
// by q, then p (Cabibbo, Marinari, Phys. Lett. B 119, 387 (1982)); for SU(2) there is one and for
// SU(3) the order is 01, 02, 12. With w the quaternion of the block of W = U V and k = |w|, the new
// element g w/k has the weight sqrt(1 - x0^2) exp(alpha x0), alpha = 2 strength k. Proposals of x0
// are those of Kennedy and Pendleton (Phys. Lett. B 156, 393 (1985)) or, where alpha is small, of
// Creutz (Phys. Rev. D 21, 2308 (1980)). U(1): von Mises's distribution by the wrapped Cauchy
// envelope of Best and Fisher (Appl. Stat. 28, 152 (1979)).
//
// No loop, no branch: a number of proposals is drawn, and the first one that is accepted is taken,
// or, where none is, the link stays. That is exact for every number of proposals: what is accepted
// has the target law, and the chance that none is depends on alpha and strength alone, that is on
// k, which is the same all along the orbit that is sampled, |g w| = |w| (U(1): on |V|). The kernel
// is a mixture with constant weights of a draw from the target and of the identity; both leave the
// weight of the links invariant (docs/formulas.md 2.3). The number only sets how well it mixes.
//
// Random numbers are the caller's: uniform in (0, 1) or normal as said, independent. Nothing fails.
#pragma once

#include <span>

#include "compiler/gauge/group.hpp"

namespace vphi::gauge {

enum class Proposal {
  KennedyPendleton,  ///< alpha of 1 and more: accepted with 0.96 at beta = 5.7 of SU(3)
  Creutz,            ///< alpha below 1: accepted with pi/4 at alpha = 0
  Either,            ///< by alpha, link by link: both in one kernel
};

struct Heatbath {
  int proposals = 2;
  Proposal proposal = Proposal::KennedyPendleton;  ///< SU(N)
};

/// Uniform numbers that one update takes.
int heatbath_draws(const Group& group, const Heatbath& options);
Matrix heatbath(const Group& group, const Matrix& u, const Matrix& staples, Expr strength,
                std::span<const Expr> uniforms, const Heatbath& options);

/// The reflection that keeps Re tr(U V) (of each subgroup in turn); U where V is 0. No draws.
Matrix overrelaxed(const Group& group, const Matrix& u, const Matrix& staples);

/// Whether a proposal is taken, as a condition: exp(-increase) is not below a uniform number;
/// `increase` is that of the action, of a proposal that is as likely as its way back.
Expr metropolis_takes(Expr increase, Expr uniform);
/// `proposed` where it is taken, else `u`.
Matrix metropolis(const Matrix& u, const Matrix& proposed, Expr increase, Expr uniform);

}  // namespace vphi::gauge
