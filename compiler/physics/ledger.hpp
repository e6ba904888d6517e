// What the stages of the derivation have used.
//
// A stage that obeys a clause, an option, a word or a body of the model records it here, at the
// place where it takes effect; the functions that return clauses and options do it by themselves.
// At the end of `derive` everything that was not recorded is an error (E0799): a line is obeyed or
// refused, never ignored. Definitions and parameters are names, and unused ones have a warning
// (dsl/unused.cpp).
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::physics {

class Ledger {
 public:
  explicit Ledger(const dsl::Resolved& resolved) : resolved_(resolved) {}

  /// The keyword and all that stands there without `=`: names, types, a shape, an expression.
  void use(const dsl::Clause& clause);
  void use(const dsl::Item& item) { used_.insert(&item); }
  /// The item of this clause that has this value.
  void value(const dsl::Clause& clause, const dsl::ExprPtr& value);
  /// The keyword alone.
  void line(const dsl::Clause& clause) { used_.insert(&clause); }
  /// `by newton`, `within 3`, `steps` behind an item.
  void words(const dsl::Item& item);
  void destination(const dsl::Clause& clause) { used_.insert(&clause.destination); }
  void where(const dsl::Clause& clause) { used_.insert(&clause.where); }
  /// The clauses in a body answer for themselves.
  void body(const dsl::Clause& clause) { used_.insert(&clause.body); }
  /// All of it, whatever is in it.
  void everything(const dsl::Clause& clause);

  /// The model's clauses with this keyword, which are thereby used, their options not yet.
  std::vector<const dsl::Clause*> clauses(const std::string& keyword);
  const dsl::Clause* clause(const std::string& keyword);
  /// The value of `name = value`, thereby used; null where there is none.
  dsl::ExprPtr option(const dsl::Clause& clause, const std::string& name);

  /// One error for each thing that is left over, in text order.
  void check(dsl::Diagnostics& diagnostics) const;

 private:
  bool used(const void* part) const { return used_.contains(part); }
  void check(const dsl::Clause& clause, dsl::Diagnostics& diagnostics) const;

  const dsl::Resolved& resolved_;
  std::unordered_set<const void*> used_;
};

}  // namespace vphi::physics
