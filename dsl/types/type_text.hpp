// Types as they are written: `real`, `vec(2, complex)`, `SU(3)`, `spinor`.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Unknown and a diagnostic where `expr` is not a type.
Type read_type(Resolved& resolved, const Expr& expr);

/// Types as a model may write them, an example for each.
std::vector<std::string> type_names();

}  // namespace vphi::dsl
