// What is wrong with the operator of a `solve`, and with the solver it is given: E0811 and others.
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// A solver whose head says `hermitian`, on an operator that differs from its adjoint.
dsl::Diagnostic not_hermitian(dsl::Span span, const std::string& function,
                              const std::string& solver, dsl::Span declared);
/// `A` of a solve holds `term`, which is not linear in A's argument.
Diagnostic not_linear(Span span, const std::string& function, const std::string& term,
                      Span declared);
/// The operator's argument is named after no `fermion`, and those differ in their boundaries.
Diagnostic whose_boundary(Span span, const std::string& function, const std::string& argument,
                          const std::vector<std::string>& fermions, Span declared);
/// A solver that makes complex numbers, for an operator with A(i u) that is not i A(u).
Diagnostic only_real_linear(Span span, const std::string& function, const std::string& solver,
                            Span declared);

/// `inner = f32` where no text of the library or the model runs around a solver like this one.
dsl::Diagnostic no_refining_text(dsl::Span span, const std::string& solver);

}  // namespace vphi::physics::errors
