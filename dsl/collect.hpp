// First pass: every name the model declares, the names its constructs give, the library's names.
//
// Fills Resolved::symbols (values are read later), units and the lattice's shape. Can fail: a
// name declared twice, a name that cannot be one, an unknown type, a bad lattice shape.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

void collect_symbols(Resolved& resolved);

/// `field phi, chi: real` read as pairs: what is declared, and its type expression (null where
/// none is written).
struct TypedName {
  const Item* item = nullptr;
  ExprPtr name;  ///< Name, or Index for `x[k]`
  ExprPtr type;
};
std::vector<TypedName> typed_names(const Clause& clause);

/// A clause that declares (`scheme shasta(...) {`), in contrast to one that uses (`scheme shasta`).
bool declares(const Clause& clause);

}  // namespace vphi::dsl
