// Solvers of linear systems from their texts (compiler/model/texts.hpp).
//
// A solver (models/std/solvers.vphi or the model's own) is a head `A(x) = b` with options and a
// body of lines with one `repeat`. Reading fails with E0756.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/model/texts.hpp"
#include "dsl/resolve.hpp"

namespace vphi::text {

/// `used`: the solve that calls it. Null, and a diagnostic, where the text is not a solver.
std::shared_ptr<const Solver> read_solver(const dsl::Clause& clause, dsl::Span used,
                                          dsl::Diagnostics& diagnostics);

/// A text that takes approximate solutions from a solver in a lower precision, for solves by
/// `solver`: one that calls `again(v, tol)` where that text says how it continues, else one that
/// calls `inner(v, tol)`; null where the library and the model have none.
std::shared_ptr<const Solver> refining_text(const Solver& solver, const dsl::Resolved& resolved);

/// The call of a solve in a lower precision, `inner` or `again`; null without.
const dsl::Expr* inner_call(const Solver& solver);

/// Whether the body calls this function.
bool calls(const Solver& solver, const std::string& function);

}  // namespace vphi::text
