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

/// `used`: the solve that calls it. Null, with a diagnostic, where the text is not a solver.
std::shared_ptr<const Solver> read_solver(const dsl::Clause& clause, dsl::Span used,
                                          dsl::Diagnostics& diagnostics);

/// Whether the text solves (A + shift[k])(x[k]) = b beside A(x) = b.
bool has_shifts(const Solver& solver);

/// The text for this number of shifts: a line `name[k] = value` is repeated as `name[1] = ...`,
/// `name[2] = ...`, which are names then, and `shift[1]`, `shift[2]` are options. Without shifts
/// these lines are left out.
std::shared_ptr<const Solver> with_shifts(const Solver& solver, int count);
/// The name of `base[k]`, k from 1 on.
std::string shifted_name(const std::string& base, int k);

/// A text for iterative refinement, which takes approximate solutions from `solver` in a lower
/// precision. Where `solver` has lines after its `repeat`, it is a text that calls `again(v, tol)`,
/// otherwise one that calls `inner(v, tol)`. Null where the library and the model have none.
std::shared_ptr<const Solver> refining_text(const Solver& solver, const dsl::Resolved& resolved);

/// A text that finds an end of the spectrum of a hermitian operator, from the start b: it sets the
/// number kEigenvalue, and its option kSide is 1 for the largest eigenvalue and -1 for the
/// smallest. Null where the library and the model have none.
std::shared_ptr<const Solver> eigenvalue_text(const dsl::Resolved& resolved);
bool finds_eigenvalue(const Solver& solver);
inline constexpr const char* kEigenvalue = "value";
inline constexpr const char* kSide = "side";

/// A text for operators that are 0 for some directions, with a right side that has no part along
/// them: its option kCancelled is the sum of the squares of what cancels there. Null where the
/// library and the model have none.
std::shared_ptr<const Solver> singular_text(const dsl::Resolved& resolved);
inline constexpr const char* kCancelled = "cancelled";

/// The call of a solve in a lower precision, `inner` or `again`; null where there is none.
const dsl::Expr* inner_call(const Solver& solver);

/// Whether the body calls this function.
bool calls(const Solver& solver, const std::string& function);

}  // namespace vphi::text
