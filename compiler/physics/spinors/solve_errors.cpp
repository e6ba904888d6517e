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

Diagnostic not_linear(Span span, const std::string& function, const std::string& term,
                      Span declared) {
  return with_label(
      error("E0755", span,
            fmt::format("`{}` is not linear in its argument{}", function,
                        term.empty() ? std::string() : fmt::format(": `{}`", term)),
            "the operator of a linear system",
            "every term of A(u) holds u once: in no product with itself, under no function, in no "
            "condition",
            "move terms without u to the right side; solve a nonlinear equation by repeated "
            "linearisation"),
      declared, "defined here");
}

Diagnostic not_a_sum_of_paths(Span span, const std::string& function, const std::string& argument,
                              Span declared) {
  return with_label(
      error("E0755", span,
            fmt::format("`{0}({1})` is not recognised as linear in `{1}`", function, argument),
            "adjoint and derivative follow from its terms",
            fmt::format("each term is a number times gammas times sums and products of links along "
                        "paths before `{}`, which is read where they end",
                        argument),
            fmt::format("write hops as U[mu]*{0}@mu and loops as loop(mu, nu, -mu, -nu)*{0}, and "
                        "leave out what is neither a number, a gamma nor a path of links",
                        argument)),
      declared, "defined here");
}

Diagnostic whose_boundary(Span span, const std::string& function, const std::string& argument,
                          const std::vector<std::string>& fermions, Span declared) {
  return with_label(
      error("E0758", span,
            fmt::format("`{}` acts on `{}`, and the `fermion` lines have different boundaries",
                        function, argument),
            "of which of them is the solution?",
            "the solution of a system has the boundary of the fermion that the argument of its "
            "operator is named after",
            fmt::format("write {0}({1}) = ... with one of {2} as the argument, or one more line "
                        "{0}_{1}({1}) = {0}({1})",
                        function, fermions.front(), fmt::join(fermions, ", "))),
      declared, "defined here");
}

Diagnostic whose_source(Span span, const std::string& axis,
                        const std::vector<std::string>& fermions) {
  return error("E0758", span,
               fmt::format("a source is shifted along {}, where the `fermion` lines {} have "
                           "different boundaries",
                           axis, fmt::join(fermions, ", ")),
               "of which of them is the source?",
               "a spinor that is written down goes on beyond an edge as the `fermion` lines do, "
               "which for that are one",
               fmt::format("write the source where it is wanted, without a shift along {}, or one "
                           "model for each boundary",
                           axis));
}

Diagnostic mixed_source(Span span) {
  return error("E0758", span, "parts of this spinor take different phases at the edge",
               "shifted as one",
               "a source takes the phase of the boundary once, spinors that are read take theirs, "
               "and their conjugates the conjugate one",
               "shift the terms one by one: psi@x + source@x in place of (psi + source)@x");
}

Diagnostic phase_in_output(Span span, const std::string& output) {
  return error("E0758", span,
               fmt::format("`{}` goes around the box, where this takes a phase", output),
               "of a `fermion` with a phase at an edge",
               "waves and distances around a box are those of periodic values; a spinor with "
               "boundary = antiperiodic or twisted(theta) is none",
               "take what is periodic: norm2(psi), or exp(-1i*theta*index(x)/L)*psi, whose momenta "
               "are less by theta/L");
}

Diagnostic phase_in_derivative(Span span) {
  return error(
      "E0758", span, "a sum over the lattice in which the phases of an edge remain",
      "differentiated by a spinor with a phase at an edge",
      "terms that read neighbours keep their value around the box where each spinor stands "
      "beside a conjugate one",
      "write products such as dot(psi, psi@x)");
}

Diagnostic only_real_linear(Span span, const std::string& function, const std::string& solver,
                            Span declared) {
  return with_label(
      error(
          "E0757", span,
          fmt::format("`{0}(1i*u)` is not `1i*{0}(u)`, and `{1}` needs that", function, solver),
          "linear for real factors alone",
          fmt::format("the text of `{}` multiplies fields by complex numbers (`dot` without `re`), "
                      "and takes A out of such products",
                      solver),
          "take a solver whose numbers are real, cgne or cg, or write the operator without conj, "
          "re and im of its argument"),
      declared, "defined here");
}

dsl::Diagnostic eigenvalue_for_solution(dsl::Span span, const std::string& solver) {
  return error("E0756", span, fmt::format("`{}` finds an eigenvalue and solves no system", solver),
               "no solver of A(x) = b",
               "its text sets `value`, and b is where it starts: determinants with a fraction as "
               "their power use it",
               "take cg, cgne or bicgstab");
}

dsl::Diagnostic no_refining_text(dsl::Span span, const std::string& solver) {
  return error("E0774", span, fmt::format("`inner = f32` of `{}` would change nothing", solver),
               "no text refines",
               "a text around the solver calls inner(v, tol) or again(v, tol) and takes the true "
               "residual in the precision of the run (docs/solves.md)",
               "remove `inner`, or write such a text");
}

}  // namespace vphi::physics::errors
