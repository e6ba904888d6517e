// Links that a definition makes of others, `V[mu] = exp(A)*U[mu]`, with A a sum of gradients of
// loops: stout smearing and its like, for measurements.
//
// d(S, U[mu]) in A is the gradient of S on the group (compiler/physics/chains/link_flow.hpp); its
// loops are taken of the links U, which may be such a definition again. Only the part of A in the
// algebra counts. V is computed where outputs and solves read it: it is a right side that is stored
// (LinearSystem with the identity), so that its order among other systems follows from what reads
// what. An action cannot hold V, because the derivative by U is not taken through it.
#pragma once

#include <optional>
#include <string>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether `name` is such a definition.
bool defines_links(const Declared& d, const std::string& name);
/// The field of the links that `name` defines, with arrays that hold them when outputs are
/// computed; nothing where it is not such a definition. `at`: who asks, for messages.
std::optional<StateField> defined_links(const Program& d, Lowerer& lower, const std::string& name,
                                        const dsl::Expr& at);

}  // namespace vphi::physics
