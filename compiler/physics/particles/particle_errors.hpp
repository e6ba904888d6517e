// Messages about bodies and sums over pairs of them.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

/// E0880: a sum over all pairs k, l contains k = l, where its function is not finite.
dsl::Diagnostic pair_with_itself(dsl::Span span, const std::string& function);
/// E0799: no variable has a value for each body. `variable`: one that could have.
dsl::Diagnostic bodies_without_state(dsl::Span span, const std::string& variable);

}  // namespace vphi::physics::errors
