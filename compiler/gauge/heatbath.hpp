// Updates of one link with the others fixed: heatbath, overrelaxation, relaxation, Metropolis.
//
// The weight of a link U is exp(strength Re tr(U V)), V the sum of its staples (with the ordinary
// weight of the Wilson action, strength = beta/N). SU(N) is updated in its SU(2) subgroups, p < q,
// by q, then p (Cabibbo, Marinari, Phys. Lett. B 119, 387 (1982)); for SU(2) there is one and for
// SU(3) the order is 01, 02, 12. With w the quaternion of the block of W = U V and k = |w|, the new
// element g w/k has the weight sqrt(1 - x0^2) exp(alpha x0), alpha = 2 strength k. Proposals of x0
// are those of Kennedy and Pendleton (Phys. Lett. B 156, 393 (1985)) or, where alpha is small, of
// Creutz (Phys. Rev. D 21, 2308 (1980)). U(1): von Mises's distribution by the wrapped Cauchy
// envelope of Best and Fisher (Appl. Stat. 28, 152 (1979)).
//
// No loop, no branch: a fixed number of proposals is drawn, and the first accepted one is taken; if
// none is accepted, the link stays. This is exact for any number of proposals. An accepted proposal
// has the target distribution. The probability of no acceptance depends on k alone, and k = |w| is
// constant on the orbit that is sampled (U(1): |V|). So the update is a mixture, with constant
// weights, of a draw from the target and of the identity, and both leave the weight of the links
// invariant (docs/formulas.md 2.3). More proposals only make the autocorrelation shorter.
//
// Random numbers come from the caller: uniform in (0, 1) or normal, independent. Nothing fails.
#pragma once

#include <span>

#include "compiler/gauge/group.hpp"

namespace vphi::gauge {

enum class Proposal {
  KennedyPendleton,  ///< alpha of 1 and more: accepted with 0.96 at beta = 5.7 of SU(3)
  Creutz,            ///< alpha below 1: accepted with pi/4 at alpha = 0
  Either,            ///< chosen for each link by its alpha, in one kernel
};

struct Heatbath {
  int proposals = 2;
  Proposal proposal = Proposal::KennedyPendleton;  ///< SU(N)
};

/// Number of uniform random numbers for one update.
int heatbath_draws(const Group& group, const Heatbath& options);
Matrix heatbath(const Group& group, const Matrix& u, const Matrix& staples, Expr strength,
                std::span<const Expr> uniforms, const Heatbath& options);

/// The reflection that keeps Re tr(U V), for each subgroup in turn; U where V is 0. It takes no
/// random numbers.
Matrix overrelaxed(const Group& group, const Matrix& u, const Matrix& staples);

/// A step towards the largest Re tr(U V), for each subgroup in turn: r, which reaches it, to the
/// power omega from 1 to 2, to first order: 1 + omega (r - 1), brought back into the group (Mandula
/// and Ogilvie, Phys. Lett. B 248 (1990) 156). U where V is 0. It takes no random numbers.
Matrix relaxed(const Group& group, const Matrix& u, const Matrix& staples, Expr omega);

/// Whether a proposal is accepted, as a condition: exp(-increase) is not below a uniform number.
/// `increase` is the change of the action; the proposal must be as likely as its reverse.
Expr metropolis_takes(Expr increase, Expr uniform);
/// `proposed` where it is taken, else `u`.
Matrix metropolis(const Matrix& u, const Matrix& proposed, Expr increase, Expr uniform);

}  // namespace vphi::gauge
