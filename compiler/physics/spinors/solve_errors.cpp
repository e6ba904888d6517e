#include "compiler/physics/spinors/solve_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

dsl::Diagnostic not_hermitian(dsl::Span span, const std::string& function,
                              const std::string& solver, dsl::Span declared) {
  return with_label(
      error("E0811", span,
            fmt::format("`{}` is not hermitian, and `{}` needs that", function, solver),
            "differs from its adjoint",
            fmt::format("the head of `{}` says `hermitian = 1`: its iterations converge for an "
                        "operator that is its own adjoint",
                        solver),
            "take `solver = cgne`, for any operator with an inverse, or `bicgstab`"),
      declared, "defined here");
}

}  // namespace vphi::physics::errors
