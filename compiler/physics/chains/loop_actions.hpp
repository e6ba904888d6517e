// Actions of a Markov chain, read as sums of traces of loops.
//
// While an action is read every closed path of links is a name of its own; what is left is a
// polynomial in these names, whose coefficients are all that the chain needs to know of it
// (compiler/gauge/action.hpp). Actions are densities: the weight is exp(-S) with S summed over the
// sites. An action that is not a sum of traces times fixed numbers fails with E0770 or E0771.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/gauge/action.hpp"
#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

struct NamedAction {
  std::string name;
  gauge::LoopAction loops;  ///< collected
  ShownEquation shown;
  Expr rest = {};  ///< what it holds beside them (read_actions): of arrays; null: nothing
};

/// All `action` clauses, in text order, for links of `field`.
std::vector<NamedAction> read_loop_actions(const Motion& d, const StateField& field,
                                           const dsl::Clause& sample, const std::string& method);

/// All `action` clauses of a chain that takes any differentiable action: of links (or null), of
/// other fields and of both. Fails with E0770 where links along an open path stand alone.
std::vector<NamedAction> read_actions(const Motion& d, const StateField* links);

/// The error of an action that is not such a sum: where, and what is written there.
using Refusal = std::function<dsl::Diagnostic(dsl::Span, const std::string& why)>;
/// One expression as a sum of loops of `field`, collected; `shown` is given its text's value.
gauge::LoopAction read_loops(const Motion& d, const StateField& field, const dsl::Expr& action,
                             const Scope& scope, const Refusal& refuse, Expr* shown = nullptr);

/// "loop(x, y, -x, -y)"
std::string shown_loop(const gauge::Word& word);

}  // namespace vphi::physics
