// The model sorted by purpose: its parameters, definitions, fields, equations and clauses, by name.
// It refers to the syntax tree, which must outlive it. Nothing is evaluated here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::physics {

/// A name with a formula.
struct NamedFact {
  enum class Kind { Parameter, Swept, Definition, Function, Indexed, Potential };
  Kind kind = Kind::Definition;
  std::string name;
  std::vector<std::string> parameters;  ///< of a Function or an Indexed definition
  dsl::ExprPtr value;
  dsl::Span span;                       ///< of the name where it is declared
  const dsl::Clause* clause = nullptr;  ///< of a potential or an action: its line
};

struct FieldFact {
  std::string name;
  dsl::ExprPtr type;      ///< `real`, `complex`, `vec(3)`; null where none was written
  bool field = true;      ///< false for `var`
  bool particle = false;  ///< `var x[k]`
  dsl::Span span;
  /// Declared by a `gauge` line: it lives on the links of the lattice.
  bool gauge = false;
  dsl::ExprPtr store = nullptr;          ///< `store = rows(2)` of a `gauge` line
  bool primitive = false;                ///< of a `primitive` line
  const dsl::Clause* fermion = nullptr;  ///< the `fermion` line that declares it; null: none
  const dsl::Clause* line = nullptr;     ///< the line that declares it
};

struct EquationFact {
  const dsl::Definition* definition = nullptr;
  dsl::Span span;
};

struct Facts {
  const dsl::Resolved* resolved = nullptr;
  std::map<std::string, NamedFact> named;
  std::vector<FieldFact> fields;
  std::vector<EquationFact> equations;
  std::vector<const NamedFact*> potentials, lagrangians;  ///< in text order
  std::map<std::string, const dsl::Clause*> stencils;     ///< model first, then library
  std::map<std::string, const dsl::Clause*> integrators;

  const NamedFact* find(const std::string& name) const;
  const FieldFact* field(const std::string& name) const;
  const EquationFact* equation(const std::string& name) const;
};

Facts collect_facts(const dsl::Resolved& resolved);

}  // namespace vphi::physics
