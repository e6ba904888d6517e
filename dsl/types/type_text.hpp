// Reads and lists the types of the language: `real`, `vec(2, complex)`, `SU(3)`, `spinor`.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// The type; Unknown, with a diagnostic, where `expr` is not a type.
Type read_type(Resolved& resolved, const Expr& expr);

/// An example of each type.
std::vector<std::string> type_names();

}  // namespace vphi::dsl
