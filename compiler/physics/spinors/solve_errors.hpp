// E0811: an operator and a solver that do not go together.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

/// A solver whose head says `hermitian`, on an operator that differs from its adjoint.
dsl::Diagnostic not_hermitian(dsl::Span span, const std::string& function,
                              const std::string& solver, dsl::Span declared);

}  // namespace vphi::physics::errors
