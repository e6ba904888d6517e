// Infers the meaning of expressions: the object of every name, the type of every node, and the
// ranges of indices.
//
// One walk over an expression with the names that are visible there (Scope). Definitions are
// visited once, when first needed; functions once for each combination of argument types. Types go
// to Resolved::types. Can fail in every way of E01xx and E02xx; an expression with an error has
// Type::Base::Unknown, which suppresses consequential errors.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/resolve.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

/// The range of an index.
struct IndexRange {
  enum class Kind { Open, Direction, Component, Particle, Explicit };
  Kind kind = Kind::Open;
  int count = 0;  ///< components; 0 where not known
  std::string species;
  Span first;  ///< the place that determined the range
};

/// A type and the particle indices that the value still depends on.
struct Value {
  Type type;
  std::set<std::string> free;
};

/// `a`, which also depends on what `b` depends on.
inline Value join(Value a, const Value& b) {
  a.free.insert(b.free.begin(), b.free.end());
  a.type.per_site = a.type.per_site || b.type.per_site;
  return a;
}

/// The value with another type, and with the same dependence on the site.
inline Value with_type(const Value& value, Type type) {
  type.per_site = value.type.per_site;
  return {type, value.free};
}

/// Names visible at one place, inner scopes first.
struct Scope {
  struct Local {
    std::optional<Value> value;   ///< the value of a parameter of a function
    IndexRange* index = nullptr;  ///< or an index
    Span declared = {};
    /// Set where the text takes a parameter of a function as a condition.
    bool* condition = nullptr;
  };
  const Scope* outer = nullptr;
  std::map<std::string, Local> locals;
  /// Right of `~`: type of the variable; distributions are allowed.
  const Type* drawn = nullptr;
  const std::string* drawn_name = nullptr;  ///< and its name, where it is state
  bool equation = false;            ///< right side of an equation of motion: `noise`, `derived`
  bool start = false;               ///< in `init`: a file may contain a value for each site
  bool law = false;                 ///< flux of a conservation law
  bool definition = false;          ///< in a definition, which an equation may use: `noise`
  bool free_names = false;          ///< in a text of the library: unknown names are allowed
  const Expr* reduction = nullptr;  ///< the sum, mean, max, ... around the expression

  const Local* find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      const auto found = scope->locals.find(name);
      if (found != scope->locals.end()) return &found->second;
    }
    return nullptr;
  }
  template <typename Flag>
  auto inherited(Flag Scope::*flag) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (scope->*flag) return scope->*flag;
    }
    return Flag{};
  }
};

class Inference {
 public:
  explicit Inference(Resolved& resolved);

  Value infer(const Expr& expr, const Scope& scope);
  /// The same, and the value must be of this kind; `place` names it in a message.
  Value condition(const Expr& expr, const Scope& scope, const std::string& place);
  Value number(const Expr& expr, const Scope& scope, const std::string& place);

  /// The type of a symbol that is used by its name only.
  Value value_of(const Symbol& symbol, const Scope& scope, Span at);
  /// Infers a definition, also one that is not used.
  void definition(const Symbol& symbol);
  /// Number of directions of the lattice.
  int dimensions() const { return static_cast<int>(resolved_.lattice_shape.size()); }
  /// Checks the arguments of an output, spectrum(...) or slice(...); its value has no type.
  void output(const Expr& call, const Scope& scope);
  void promise(const Expr& call, const Scope& scope);
  /// E0202 or E0203 where `value` cannot be used in a place of type `wanted`.
  void require(const Expr& expr, const Value& value, const Type& wanted, const std::string& place,
               Span declared);
  /// The message about an unknown name, with suggestions.
  Diagnostic unknown(const Expr& name, const Scope& scope) const;
  /// `x[k]` with this range for k: an index of the left side of an equation.
  IndexRange range_of_place(const Symbol& symbol, std::size_t position) const;
  /// Of psi[s, c]: position 0 is spin, 1 colour.
  IndexRange component_of_spinor(std::size_t position) const;

 private:
  // infer_names.cpp
  Value name(const Expr& expr, const Scope& scope);
  Value bare_definition(const Symbol& symbol, const Scope& scope, Span at);
  /// The type of a call, and the ranges of arguments that are indices.
  struct Called {
    Value value;
    std::map<std::size_t, IndexRange> ranges;  ///< by the number of the argument
    std::set<std::size_t> conditions;          ///< arguments that stand where a condition does
  };
  Called function_body(const Symbol& symbol, const std::vector<Value>& arguments,
                       const std::set<std::size_t>& indices = {});
  std::optional<Value> distribution(const Expr& expr, const Scope& scope);
  void name_places(const Type& drawn, const Scope& scope, Scope& inner) const;
  void check_number(const Expr& expr);

  // infer_operators.cpp
  Value unary(const Expr& expr, const Scope& scope);
  Value binary(const Expr& expr, const Scope& scope, bool outer = false);
  void check_hidden_constant(const Expr& product, const Scope& scope);
  Value select(const Expr& expr, const Scope& scope);
  Value prime(const Expr& expr, const Scope& scope);
  Value list(const Expr& expr, const Scope& scope);
  Value compare(const Expr& expr, const Value& left, const Value& right);
  bool changes_with_time(const Expr& expr, const Scope& scope) const;

  // infer_indices.cpp
  Value index(const Expr& expr, const Scope& scope);
  Value indexed_symbol(const Expr& expr, const Symbol& symbol, const Scope& scope);
  Value components(const Expr& expr, const Value& base, const std::string& shown,
                   const Scope& scope);
  Value shift(const Expr& expr, const Scope& scope);
  void use_index(const Expr& expr, const IndexRange& place, const std::string& what,
                 const Scope& scope, Value& result);
  void narrow(IndexRange& index, const IndexRange& place, const std::string& name, Span at);
  bool is_axis(const std::string& name) const;
  bool use_direction(const Expr& expr, const Scope& scope);
  void report_no_lattice(Span at, const std::string& what, bool derivative = false);

  // infer_calls.cpp
  Value call(const Expr& expr, const Scope& scope);
  bool takes_conditions(const Expr& expr, const Symbol& symbol, const std::vector<Value>& arguments,
                        const std::set<std::size_t>& indices, const Scope& scope);
  Value user_call(const Expr& expr, const Symbol& symbol, const Scope& scope);
  Value builtin_call(const Expr& expr, const Builtin& builtin, const Scope& scope);
  Value site_number(const Expr& expr);
  Value values_of_file(const Expr& expr, bool table, const Scope& scope);
  Value of_formula(const Expr& expr, const Builtin& builtin, const Scope& scope);
  void members(const Expr& where, const Scope& scope);
  Value sweep_values(const Expr& expr, const Scope& scope);
  bool arity(const Expr& expr, const Builtin& builtin);
  void options(const Expr& expr, const Builtin& builtin, const Scope& scope);
  void named_parameter(const NamedArgument& named, const Scope& scope);

  // infer_functions.cpp
  Value elementary(const Expr& expr, const Builtin& builtin, const Scope& scope);
  Value linear_algebra(const Expr& expr, const Builtin& builtin, const Scope& scope);
  Value lattice_operator(const Expr& expr, const Builtin& builtin, const Scope& scope);
  Value derivative(const Expr& expr, const Scope& scope);
  Value colours(const Expr& expr);
  Value path_product(const Expr& expr, const Builtin& builtin, const Scope& scope);
  void operator_name(const Expr& expr, const Scope& scope);
  Value adjoint_applied(const Expr& expr, const Scope& scope);
  Value determinant(const Expr& expr, const Scope& scope);

  // infer_solve.cpp
  Value solve(const Expr& expr, const Scope& scope);
  Value of_solve(const Expr& expr, const Scope& scope);
  void solver(const Expr& expr, const Scope& scope);
  /// Where `option` stands if `call` names a solver that has it; else "".
  std::string option_of_solver(const Expr& call, const NamedArgument& option) const;

  // infer_reductions.cpp
  Value reduce(const Expr& expr, const Builtin& builtin, const Scope& scope);
  void bind_trailing(const Expr& expr, const Scope& scope, Scope& inner,
                     std::map<std::string, IndexRange>& ranges);
  void bind_ranges(const Expr& expr, const Builtin& builtin, const Scope& scope, Scope& inner,
                   std::map<std::string, IndexRange>& ranges);
  Value fold(const Expr& expr, const Builtin& builtin, const Scope& scope);
  bool has_meaning(const std::string& name, const Scope& scope) const;
  std::vector<std::string> indices_of(const Expr& expr, const Scope& scope);
  std::string bound(const Scope& scope, Span at, const Expr& there,
                    const std::vector<ExprPtr>& behind) const;
  bool over_planes(const Symbol* symbol) const;
  std::string with_bound(const Expr& index, const Scope& scope, bool bodies) const;
  std::string with_indices(const Symbol& symbol, const Scope& scope, Span at) const;
  std::string component_of_each(const Expr& argument, const Scope& scope,
                                const std::string& otherwise) const;
  void reduced_type(const Expr& expr, const Builtin& builtin, Value& value, bool domain,
                    const Scope& scope);

  Value set(const Expr& expr, Value value);
  /// Whether errors get suggestions. Suggestions need a search, so only the first 50 errors of a
  /// text have them.
  bool helps() const { return resolved_.diagnostics.errors() <= 50; }
  void report(Diagnostic diagnostic) { resolved_.diagnostics.add(std::move(diagnostic)); }

  Resolved& resolved_;
  bool hubble_or_hamiltonian_ = false;  ///< bare `H` could be either
  int depth_ = 0;
  std::map<const Symbol*, Value> known_;
  std::set<const Symbol*> busy_;
  std::map<std::string, Called> calls_;  ///< function and argument types -> result
  std::map<const Symbol*, std::vector<IndexRange>> ranges_;  ///< of indexed definitions
};

}  // namespace vphi::dsl
