// Staples, forces and changes of the action for one link, derived from an action of loops.
//
// An action is a sum over sites and loops, sum_x sum_l c_l Re tr(loop_l(x)) (or Im tr), each loop a
// word (word.hpp). Staples and forces follow from the words: without one of its letters along mu, a
// loop is a path from x + mu back to x. The weighted sum of these paths is the staple sum V_mu(x),
// with which
//   dS/dt = Re tr(A U_mu(x) V_mu(x))   where U_mu(x)' = A U_mu(x),
// whatever the loops are; and where no loop passes the link twice, also
//   S = Re tr(U_mu(x) V_mu(x)) + (terms without this link).
// A link that a loop passes twice (by its shape, or around a small box) has a force but no
// heatbath: `twice` names the loop. Pure; nothing throws.
#pragma once

#include <optional>
#include <vector>

#include "compiler/algebra/mover.hpp"
#include "compiler/gauge/colouring.hpp"
#include "compiler/gauge/group.hpp"
#include "compiler/gauge/link_paths.hpp"

namespace vphi::gauge {

struct LoopTerm {
  Expr coefficient;        ///< a scalar
  Word loop;               ///< reduced, not empty
  bool imaginary = false;  ///< Im tr instead of Re tr
  /// Set where the coefficient differs from site to site; it is that of loops that begin at the
  /// site.
  algebra::Mover move = {};
  /// The coefficient of the loop that begins at `offset`.
  Expr at(Offset offset) const { return move ? move(coefficient, offset) : coefficient; }
};
using LoopAction = std::vector<LoopTerm>;

/// The action with equal loops, and loops that are each other's reverse, as one term, and without
/// terms of coefficient 0.
LoopAction collected(const LoopAction& action);
std::vector<Word> loops(const LoopAction& action);

/// The first loop that passes some link twice on this box, and the link.
struct Twice {
  Word loop;
  LinkAt link;
};
std::optional<Twice> twice(const LoopAction& action, const Box& box);

/// V_axis(x) as weighted paths that begin at x + axis; empty where no loop has a link along it.
std::vector<WeightedLinkPath> staple_paths(const LoopAction& action, int axis);
Matrix staple_sum(const LoopAction& action, int axis, const LinkOf& link,
                  LinkPathPlan* plan = nullptr);

/// A matrix Z_k(x) that stands still, in a list of links: the axis kInserted + k.
inline constexpr int kInserted = 1 << 16;
/// weight Re tr(Z_k(x) product of the links), which are those of a walk seen from x.
struct InsertedWord {
  int inserted = 0;  ///< k
  Complex weight;
  std::vector<LinkAt> links;
};
/// Of the sum over all sites of these: V with d/dt = Re tr(A U V) for the link of this site along
/// `axis`, where U' = A U. Empty: 0.
std::vector<WeightedLinks> inserted_staples(const std::vector<InsertedWord>& words, int axis);
/// Of the sum of all dS_mu/dt where links along mu move by Z_mu (U_mu' = Z_mu U_mu), S_mu =
/// actions[mu], as words with Z_mu in the algebra.
std::vector<InsertedWord> inserted_words(const std::vector<LoopAction>& actions);

/// Rate of the momentum of the link at the site: p_a' = Im tr(T_a U V) (group.hpp).
std::vector<Expr> force(const Group& group, const LoopAction& action, int axis, const LinkOf& link);

/// sum_l c_l Re tr(loop_l) at one site: its sum over all sites is the action.
Expr density(const LoopAction& action, const LinkOf& link);

/// Change of S when the link at this site along `axis` becomes `changed`. For a link that no loop
/// passes twice it is Re tr((changed - U) V); for others each loop with the link is evaluated with
/// both.
Expr increase(const LoopAction& action, int axis, const Matrix& changed, const LinkOf& link,
              const Box& box);

}  // namespace vphi::gauge
