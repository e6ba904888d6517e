// Links that a definition makes of others: `V[mu] = exp(A)*U[mu]`, with A a sum of gradients of
// loops, as stout smearing has it; or `V[mu] = project(M)`, with M a sum of products of links, as
// APE and HYP smearing have it. The latter may have more indices, `V[mu, nu]`: mu is the direction,
// and each axis nu has links of its own. `V[mu] = gauge_fixed(U[mu], M)` turns links to a gauge
// (gauge_fixing.hpp).
//
// d(S, U[mu]) in A is the gradient of S on the group (compiler/physics/chains/link_flow.hpp); its
// loops are taken of the links U, which may be such a definition again. Only the part of A in the
// algebra counts. V is computed where outputs and solves read it: it is a right side that is stored
// (LinearSystem with the identity), so that its order among other systems follows from what reads
// what. Actions of trajectories have arrays of their own (trajectory_links.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

struct LinkDefinition {
  const NamedFact& fact;
  const dsl::Expr& argument;  ///< A, or M
  const std::string& base;    ///< links that it moves; of a projection: those that it is like
  bool projects = false;
  const dsl::Expr* fixes = nullptr;  ///< the call of `gauge_fixed`; null: it is another definition
};
/// The definition of this name in parts; nothing where it is not such a definition.
std::optional<LinkDefinition> definition_of_links(const Declared& d, const std::string& name);
/// A field of links as the definition names it, without arrays.
StateField named_links(const LinkDefinition& definition, const StateField& base,
                       const std::vector<int>& labels = {});

/// Fails where the definition has another number of indices behind the direction.
void check_labels(const Declared& d, const LinkDefinition& definition, const dsl::Expr& at,
                  const std::vector<int>& labels);

/// Whether `name` is such a definition.
bool defines_links(const Declared& d, const std::string& name);
/// The field of the links that `name` defines, with arrays that hold them when outputs are
/// computed; nothing where it is not such a definition. `labels`: axes for the indices behind the
/// direction. `axes`: directions that are asked for; of others that nobody asked for the numbers of
/// arrays are -1. `at`: who asks, for messages.
std::optional<StateField> defined_links(const Program& d, Lowerer& lower, const std::string& name,
                                        const dsl::Expr& at, const std::vector<int>& labels = {},
                                        const std::optional<std::set<int>>& axes = {});

/// The place in `collected.solves` of the system that finds the gauge of these links; nothing where
/// no such definition has this name.
std::optional<std::size_t> gauge_of_links(const Program& d, Lowerer& lower, const std::string& name,
                                          const dsl::Expr& at);

}  // namespace vphi::physics
