// Checks every clause: first against the table of dsl/words/clauses.hpp, then the meaning of its
// items.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "dsl/resolve.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::dsl {

class ClauseCheck {
 public:
  ClauseCheck(Resolved& resolved, Inference& inference)
      : resolved_(resolved), inference_(inference) {}

  void all();

 private:
  // clause_check.cpp: from the table
  /// An option is given once in a call.
  void once_each(const Expr& call);
  void lines(const std::vector<Line>& lines, const std::string& inside);
  void clause(const Line& line, const std::string& inside);
  void writer(const Expr& call);
  void file_name(const Expr& name_expr);
  bool known_slip(const Clause& clause, const ClauseRule& rule);
  void form(const Clause& clause, const ClauseRule& rule);
  void items(const Clause& clause, const ClauseRule& rule);
  void option_item(const Clause& clause, const Item& item, const ClauseRule& rule,
                   const std::vector<std::string>& more);
  void option_value(const Item& item, const OptionRule& rule);
  void listed_once(const std::vector<ExprPtr>& names);
  void word(const std::string& name, const Expr& value, std::string_view words, bool call);
  void positive(const std::string& name, const Expr& value);
  void whole_to_rounding(const std::string& place, const Expr& value);
  void whole(const std::string& place, const Expr& value);  ///< from 1 on, known now

  // clause_facts.cpp: the meaning of the items
  void meaning(const Line& line);
  /// Whether the name is swept or free, which is reported: `place` must be one number.
  bool refuses_swept(const Expr& name, const std::string& place);
  void lattice(const Clause& clause);
  void state(const Clause& clause);
  void metric(const Clause& clause);
  void source(const Line& line);
  void param(const Clause& clause);
  void sweep(const Clause& clause);
  void evolve(const Clause& clause);
  void scheme(const Clause& clause);
  void split(const Clause& clause);
  void sample(const Clause& clause);
  void level(const Clause& clause);
  void recover(const Clause& clause);
  void solve_start(const Clause& clause, const Scope& scope);
  void conserve(const Clause& clause);
  void relax(const Clause& clause);

  // clause_outputs.cpp: initial values, outputs, promises
  void init(const Clause& clause);
  bool starts_all(const Item& item, const Symbol& symbol);
  void initial_value(const Item& item);
  void limit(const Clause& clause);
  void beyond(const Clause& clause);
  void outputs(const Clause& clause);
  void output_item(const Item& item, const Scope& scope, bool links);
  void expect(const Clause& clause);
  void promised(const Expr& expr, const Scope& scope);
  void plot(const Clause& clause);

  std::vector<std::string> names_of(SymbolKind kind) const;
  /// Options of an integrator or scheme: `mask = 1` in its head.
  std::vector<std::string> head_options(const Symbol& symbol) const;
  void integrator_name(const Expr& expr);
  void report(Diagnostic diagnostic) { resolved_.diagnostics.add(std::move(diagnostic)); }

  Resolved& resolved_;
  Inference& inference_;
  std::map<std::string, Span> first_;  ///< clauses that may come once
  /// Options that are suggested for mistyped ones in this clause.
  std::set<std::string> meant_;
  std::map<std::string, Span> started_;  ///< initial values
};

}  // namespace vphi::dsl
