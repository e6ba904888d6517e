// Records which parts of the model the stages of the derivation have used.
//
// A stage that obeys a clause, an option, a word or a body of the model records it here, at the
// place where it takes effect; the functions that return clauses and options record them. At the
// end of `derive` everything that was not recorded is an error (E0799): a line is obeyed or
// refused, never ignored. Unused definitions and parameters give a warning (dsl/unused.cpp).
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::physics {

class Ledger {
 public:
  explicit Ledger(const dsl::Resolved& resolved) : resolved_(resolved) {}

  /// The keyword and all items without `=`: names, types, a shape, an expression.
  void use(const dsl::Clause& clause);
  void use(const dsl::Item& item) { used_.insert(&item); }
  /// The item of this clause with this value.
  void value(const dsl::Clause& clause, const dsl::ExprPtr& value);
  /// The keyword alone.
  void line(const dsl::Clause& clause) { used_.insert(&clause); }
  /// The words after an item: `by newton`, `within 3`, `steps`.
  void words(const dsl::Item& item);
  void destination(const dsl::Clause& clause) { used_.insert(&clause.destination); }
  void where(const dsl::Clause& clause) { used_.insert(&clause.where); }
  /// The body itself; the clauses in it are recorded one by one.
  void body(const dsl::Clause& clause) { used_.insert(&clause.body); }
  /// A definition that chooses something, such as `laplacian = iso27`: the choice takes effect.
  void choice(const std::string& name) { chosen_.insert(name); }
  /// The whole clause with all its contents.
  void everything(const dsl::Clause& clause);

  /// The model's clauses with this keyword. They are recorded as used, but not their options.
  std::vector<const dsl::Clause*> clauses(const std::string& keyword);
  const dsl::Clause* clause(const std::string& keyword);
  /// The value of `name = value`, which is recorded as used; null where there is none.
  dsl::ExprPtr option(const dsl::Clause& clause, const std::string& name);

  bool chosen(const std::string& name) const { return chosen_.contains(name); }
  /// One error for each unused part of the model, in text order.
  void check(dsl::Diagnostics& diagnostics) const;

 private:
  bool used(const void* part) const { return used_.contains(part); }
  void check(const dsl::Clause& clause, dsl::Diagnostics& diagnostics) const;

  const dsl::Resolved& resolved_;
  std::unordered_set<const void*> used_;
  std::unordered_set<std::string> chosen_;
};

}  // namespace vphi::physics
