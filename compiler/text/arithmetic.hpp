// Arithmetic of library text: the values that the lines of an integrator's body have.
//
// A value is a scalar, or group-shaped: one expression for each array and each scalar variable of
// one of the head's groups. Operations act member by member; a scalar meets every member. What a
// name or the call of a hole means is the caller's; everything else (numbers, + - * / ^, functions
// of the language, `if`) is here. Failure is an ArithmeticError with the place in the text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::text {

struct Value {
  int group = -1;  ///< -1: a scalar
  algebra::Expr scalar;
  std::map<int, algebra::Expr> arrays;           ///< state array -> its component
  std::map<std::string, algebra::Expr> scalars;  ///< scalar variable -> its component
};

Value scalar_value(algebra::Expr expr);

struct ArithmeticError {
  dsl::Span span;
  std::string message;
};

struct Meaning {
  std::function<Value(const dsl::Expr&)> name;
  /// A call; nothing where it is not a hole, then functions of the language are tried.
  std::function<bool(const dsl::Expr&, Value&)> call;
  /// Makes `value` one of group `group`, where the head says how: v of `x' = v` moves x. May be
  /// empty.
  std::function<bool(Value& value, int group)> reshape;
  /// Arrays of the vector that an array is a component of; may be empty. `cross`, `dot` and `norm2`
  /// act within each vector.
  std::function<std::vector<int>(int array)> vector;
  bool reshaped(Value& value, int group) const { return reshape && reshape(value, group); }
};

Value evaluate(const dsl::Expr& expr, const Meaning& meaning, algebra::Arena& arena);

}  // namespace vphi::text
