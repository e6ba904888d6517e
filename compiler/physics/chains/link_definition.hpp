// Links that a definition makes of others, `V[mu] = exp(A)*U[mu]`, with A a sum of gradients of
// loops: stout smearing and its like.
//
// d(S, U[mu]) in A is the gradient of S on the group (compiler/physics/chains/link_flow.hpp); its
// loops are taken of the links U, which may be such a definition again. Only the part of A in the
// algebra counts. V is computed where outputs and solves read it: it is a right side that is stored
// (LinearSystem with the identity), so that its order among other systems follows from what reads
// what. Actions have such links by themselves (trajectory_links.hpp).
#pragma once

#include <optional>
#include <string>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

struct LinkDefinition {
  const NamedFact& fact;
  const dsl::Expr& exponent;  ///< A
  const std::string& base;    ///< links that it moves
};
/// The definition of this name in parts; nothing where it is not such a definition.
std::optional<LinkDefinition> definition_of_links(const Declared& d, const std::string& name);
/// A field of links as the definition names it, without arrays.
StateField named_links(const LinkDefinition& definition, const StateField& base);

/// Whether `name` is such a definition.
bool defines_links(const Declared& d, const std::string& name);
/// The field of the links that `name` defines, with arrays that hold them when outputs are
/// computed; nothing where it is not such a definition. `at`: who asks, for messages.
std::optional<StateField> defined_links(const Program& d, Lowerer& lower, const std::string& name,
                                        const dsl::Expr& at);

}  // namespace vphi::physics
