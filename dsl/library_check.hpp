// Checks names inside the bodies of integrators and schemes, and in stencils.
#pragma once

#include "dsl/resolve.hpp"
#include "dsl/types/infer.hpp"

namespace vphi::dsl {

/// A body may use the names of its head, those that it assigns, `dt dx t` and `std` (docs/rules.md
/// rule 18), but not those of the model. Checks the clauses of the model and of the library.
void check_library_names(Resolved& resolved, Inference& inference);

/// `laplacian = iso27`: the right side must be a stencil.
void choose_stencils(Resolved& resolved);

}  // namespace vphi::dsl
