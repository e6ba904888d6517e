// An integrator as its text says it: head, body, weights of a composition.
//
// `integrator NAME(x' = V(v), v' = F(x), option = 1) { ... }` is read into equations, options and
// statements; `integrator NAME = compose(I, w, ...)` into the body of I and the lengths of its
// runs in units of dt. Compositions of compositions multiply their weights. Reading fails where a
// head is not a list of equations, a weight is not a number, or a name is unknown; the diagnostics
// say so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "dsl/resolve.hpp"

namespace vphi::schedule {

/// `variable' = right` in a head.
struct HeadEquation {
  std::string variable;
  dsl::ExprPtr right;
};

/// `name = value` in a body.
struct Statement {
  std::string name;
  dsl::ExprPtr value;
  dsl::Span span;
};

struct Integrator {
  std::string name;  ///< as the user called it
  dsl::Span span;
  std::vector<HeadEquation> head;
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;
  std::vector<Statement> body;
  std::vector<algebra::Expr> weights;                        ///< numbers; {1} for a plain body
  std::map<std::string, const dsl::Symbol*> functions = {};  ///< of the model, that its body calls
};

std::optional<Integrator> read_integrator(const dsl::Clause& clause, const dsl::Resolved& resolved,
                                          algebra::Arena& arena, dsl::Diagnostics& diagnostics);

/// All `integrator` clauses that define one, the model's first.
std::vector<const dsl::Clause*> all_integrators(const dsl::Resolved& resolved);
/// Name that an `integrator` clause defines; empty where it defines none.
std::string integrator_name(const dsl::Clause& clause);

}  // namespace vphi::schedule
