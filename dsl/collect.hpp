// The first pass over a model: collects the names that the model declares, the names that its
// constructs give, and the names of the library.
//
// Fills Resolved::symbols (values are read later), units and the lattice's shape. Can fail: a name
// declared twice, an invalid name, an unknown type, an invalid lattice shape.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

void collect_symbols(Resolved& resolved);

/// An entry of `field phi, chi: real`: the declared name and its type expression (null where none
/// is written).
struct TypedName {
  const Item* item = nullptr;
  ExprPtr name;  ///< Name, or Index for `x[k]`
  ExprPtr type;
};
std::vector<TypedName> typed_names(const Clause& clause);

/// Whether a clause declares a name (`scheme shasta(...) {`) or uses it (`scheme shasta`).
bool declares(const Clause& clause);

}  // namespace vphi::dsl
