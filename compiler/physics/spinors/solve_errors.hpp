// Messages about the operator and the solver of a `solve` (E0811 and others).
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// A solver for hermitian operators is used with an operator that differs from its adjoint.
dsl::Diagnostic not_hermitian(dsl::Span span, const std::string& function,
                              const std::string& solver, dsl::Span declared);
/// The operator contains `term`, which is not linear in its argument.
Diagnostic not_linear(Span span, const std::string& function, const std::string& term,
                      Span declared);
/// The adjoint or the derivative of an operator is wanted that is not written as a sum of paths of
/// links before its argument.
Diagnostic not_a_sum_of_paths(Span span, const std::string& function, const std::string& argument,
                              Span declared);
/// The operator's argument has the name of no `fermion`, and the `fermion` lines differ in their
/// boundaries.
Diagnostic whose_boundary(Span span, const std::string& function, const std::string& argument,
                          const std::vector<std::string>& fermions, Span declared);
/// A source is shifted along an axis at whose edge the `fermion` lines differ.
Diagnostic whose_source(Span span, const std::string& axis,
                        const std::vector<std::string>& fermions);
/// A sum of a source and of spinors in arrays is shifted, or of a spinor and a conjugate one.
Diagnostic mixed_source(Span span);
/// An output that goes around the box is of a value that takes a phase there.
Diagnostic phase_in_output(Span span, const std::string& output);
/// The derivative by a spinor of a sum that reads its neighbours and takes a phase.
Diagnostic phase_in_derivative(Span span);
/// A solver with complex scalars is used with an operator for which A(i u) is not i A(u).
Diagnostic only_real_linear(Span span, const std::string& function, const std::string& solver,
                            Span declared);

/// A text that finds an eigenvalue, where a solution is wanted.
dsl::Diagnostic eigenvalue_for_solution(dsl::Span span, const std::string& solver);

/// `inner = f32`, but neither the library nor the model has a text for iterative refinement with
/// this solver.
dsl::Diagnostic no_refining_text(dsl::Span span, const std::string& solver);

}  // namespace vphi::physics::errors
