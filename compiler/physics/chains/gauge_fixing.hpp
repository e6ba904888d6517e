// Links that a gauge transformation turns: `V[mu] = gauge_fixed(U[mu], M)`.
//
// V[mu] = g U[mu] g^+@mu, with the g(x) of the group for which F, the sum of Re tr M over all sites
// with the links V in M, is stationary, a maximum in each g(x). M is a sum of products of links
// along open paths, each from a site to another one: F is then Re tr(g(x) W(x)) and terms without
// g(x), and W(x) follows from the paths that begin or end at x. Sites that no path joins are
// updated at the same time, colour after colour (gauge::relaxed), in f64 whatever the precision of
// the fields. D = TA(g W) vanishes where F is stationary; for the sum of all links it is the
// divergence of the links' TA. theta, the mean of tr(D D^+)/n over the sites, ends the rounds. What
// cannot be so is E0842; colours that do not fit the box E0773.
//
// Such a system is a LinearSystem whose one stage has the arrays of the unknown: an update in place
// instead of an operator. Its image is tr(D D^+)/n.
#pragma once

#include <optional>
#include <vector>

#include "compiler/gauge/group.hpp"
#include "compiler/physics/chains/link_definition.hpp"

namespace vphi::physics {

/// How g(x) is stored.
gauge::LinkType stored_turns(const gauge::Group& group);

/// The place in `collected.solves` of the system that finds g for `V`, which is made where it is
/// not there yet. `base`: the links U, with their arrays.
std::size_t gauge_of(const Program& d, Lowerer& lower, const LinkDefinition& definition,
                     const StateField& base);
/// The link of the site along `axis`, turned by the g of the system.
gauge::Matrix turned_link(const Program& d, Lowerer& lower, const LinkDefinition& definition,
                          const LinearSystem& system, const StateField& base, int axis);

/// A system of this kind, for the schedule.
struct Relaxation {
  Update update;          ///< of the arrays of the unknown, for one colour of sites after the other
  Expr left;              ///< what the updates make small, at a site
  double bound = 0;       ///< of its mean
  std::int64_t most = 1;  ///< sweeps
};
/// Nothing where it is a linear system.
std::optional<Relaxation> relaxation_of(const LinearSystem& system);

}  // namespace vphi::physics
