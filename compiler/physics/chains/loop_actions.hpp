// Actions of a Markov chain, read as sums of traces of loops.
//
// While an action is read, every closed path of links becomes a symbol. The action is then a
// polynomial in these symbols, and the chain needs its coefficients only
// (compiler/gauge/action.hpp). Actions are densities: the weight is exp(-S) with S summed over the
// sites. An action that is not a sum of traces times fixed numbers is an error (E0770, E0771).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/gauge/action.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/spinors/determinants.hpp"

namespace vphi::physics {

class TrajectoryLinks;

struct NamedAction {
  std::string name;
  gauge::LoopAction loops;  ///< its loops, equal ones as one term
  ShownEquation shown;
  Expr rest = {};  ///< read_actions: the remaining terms, functions of arrays; null: none
  /// read_actions: S is minus the logarithm of this determinant, and nothing else; empty: it is
  /// not.
  std::vector<DeterminantCall> determinants = {};
  /// read_actions: loops of links that definitions make, by their number.
  std::map<int, gauge::LoopAction> made_loops = {};
  bool empty() const {
    return loops.empty() && made_loops.empty() && !rest && determinants.empty();
  }
};

/// All `action` clauses, in text order, for links of `field`.
std::vector<NamedAction> read_loop_actions(const Motion& d, const StateField& field,
                                           const dsl::Clause& sample, const std::string& method);

/// All `action` clauses for a method that takes any differentiable action of links, of other
/// fields, or of both; `links` is null without links. E0770 where links along an open path occur
/// outside of a trace. `made`: what links of definitions are; null: E0901 where there are any.
std::vector<NamedAction> read_actions(const Motion& d, const StateField* links,
                                      const std::string& method,
                                      const TrajectoryLinks* made = nullptr);

/// Makes the error for an action that is not such a sum, from the place and the reason.
using Refusal = std::function<dsl::Diagnostic(dsl::Span, const std::string& why)>;
/// One expression as a sum of loops of `field`, collected. `shown`, if given, receives the
/// expression for printing.
gauge::LoopAction read_loops(const Motion& d, const StateField& field, const dsl::Expr& action,
                             const Scope& scope, const Refusal& refuse, Expr* shown = nullptr);

/// "loop(x, y, -x, -y)"
std::string shown_loop(const gauge::Word& word);

}  // namespace vphi::physics
