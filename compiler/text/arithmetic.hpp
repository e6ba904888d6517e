// Arithmetic of the texts of integrators and solvers: evaluates the lines of a body.
//
// A value is a scalar, or it has one expression for each array and each scalar variable of one of
// the groups of variables in the head. Operations act member by member; a scalar is combined with
// every member. The caller gives the meaning of names and of calls of the head's functions, such as
// V(v). Numbers, + - * / ^, functions of the language and `if` are evaluated here. Errors are
// thrown as ArithmeticError with the place in the text.
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
  /// Evaluates a call of a function of the head. False where it is none; then functions of the
  /// language are tried.
  std::function<bool(const dsl::Expr&, Value&)> call;
  /// Converts `value` to group `group` where the head relates the two: with `x' = v`, a value of
  /// v's group can be added to x. May be empty.
  std::function<bool(Value& value, int group)> reshape;
  /// Arrays of the vector that an array is a component of; may be empty. `cross`, `dot` and `norm2`
  /// act within each vector.
  std::function<std::vector<int>(int array)> vector;
  bool reshaped(Value& value, int group) const { return reshape && reshape(value, group); }
};

Value evaluate(const dsl::Expr& expr, const Meaning& meaning, algebra::Arena& arena);

}  // namespace vphi::text
