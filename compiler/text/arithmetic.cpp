#include "compiler/text/arithmetic.hpp"

#include <cstdlib>
#include <vector>

namespace vphi::text {
namespace {

using algebra::Arena;
using algebra::Expr;
using algebra::Op;
using dsl::ExprKind;

class Evaluator {
 public:
  Evaluator(const Meaning& meaning, Arena& arena) : meaning_(meaning), arena_(arena) {}

  Value value(const dsl::Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Number:
        return scalar_value(number(expr));
      case ExprKind::Name:
        return meaning_.name(expr);
      case ExprKind::Unary:
        if (expr.text == "-") return each(expr, Op::Neg, {value(*expr.args[0])});
        return each(expr, Op::Not, {value(*expr.args[0])});
      case ExprKind::Binary:
        return binary(expr);
      case ExprKind::Select:
        return each(expr, Op::Select,
                    {value(*expr.args[1]), value(*expr.args[0]), value(*expr.args[2])});
      case ExprKind::Call:
        return call(expr);
      case ExprKind::String:
      case ExprKind::Sign:
      case ExprKind::Index:
      case ExprKind::Prime:
      case ExprKind::Shift:
      case ExprKind::List:
      case ExprKind::Range:
      case ExprKind::Unit:
        break;
    }
    throw ArithmeticError{expr.span, "this is no arithmetic on variables and numbers"};
  }

 private:
  Expr number(const dsl::Expr& expr) {
    if (expr.imaginary) throw ArithmeticError{expr.span, "an imaginary number has no place here"};
    if (expr.text.find_first_not_of("0123456789") == std::string::npos && expr.text.size() < 19) {
      return arena_.integer(std::strtoll(expr.text.c_str(), nullptr, 10));
    }
    return arena_.real(std::strtold(expr.text.c_str(), nullptr));
  }

  Value binary(const dsl::Expr& expr) {
    static const std::map<std::string, Op> kOps = {
        {"+", Op::Add},   {"-", Op::Sub},  {"*", Op::Mul},        {"/", Op::Div},
        {"^", Op::Pow},   {"<", Op::Less}, {"<=", Op::LessEqual}, {"==", Op::Equal},
        {"and", Op::And}, {"or", Op::Or}};
    const Value a = value(*expr.args[0]);
    const Value b = value(*expr.args[1]);
    if (expr.text == ">") return each(expr, Op::Less, {b, a});
    if (expr.text == ">=") return each(expr, Op::LessEqual, {b, a});
    const auto op = kOps.find(expr.text);
    if (op == kOps.end()) throw ArithmeticError{expr.span, "unknown operation `" + expr.text + "`"};
    return each(expr, op->second, {a, b});
  }

  Value call(const dsl::Expr& expr) {
    Value result;
    if (meaning_.call(expr, result)) return result;
    const bool product = expr.text == "cross" || expr.text == "dot";
    if (product || expr.text == "norm2") {
      if (expr.args.size() != (product ? 2 : 1)) {
        throw ArithmeticError{expr.span, "`" + expr.text + "` takes " + (product ? "two" : "one") +
                                             " vector" + (product ? "s" : "")};
      }
      const Value a = value(*expr.args[0]);
      return of_vectors(expr, a, product ? value(*expr.args[1]) : a);
    }
    const Op op = expr.text == "sqrt" ? Op::Sqrt : algebra::op_named(expr.text);
    if (op == Op::Count_) {
      throw ArithmeticError{expr.span,
                            "`" + expr.text + "` is not a function that a body can call"};
    }
    const int arity = algebra::info(op).arity;
    if (arity >= 0 && static_cast<int>(expr.args.size()) != arity) {
      throw ArithmeticError{expr.span, "`" + expr.text + "` takes " + std::to_string(arity) +
                                           (arity == 1 ? " argument" : " arguments")};
    }
    std::vector<Value> args;
    for (const auto& arg : expr.args) args.push_back(value(*arg));
    return each(expr, op, args);
  }

  /// a x b or a.b of each vector of a group; of what is not a vector a x b is 0 and a.b the
  /// product.
  Value of_vectors(const dsl::Expr& expr, const Value& a, const Value& b) {
    if (a.group < 0 || a.group != b.group || !meaning_.vector) {
      throw ArithmeticError{expr.span, "`" + expr.text + "` takes vectors of one group"};
    }
    Value result;
    result.group = a.group;
    for (const auto& [array, unused] : a.arrays) {
      const std::vector<int> v = meaning_.vector(array);
      const auto at = [&](const Value& of, std::size_t i) { return of.arrays.at(v[i]); };
      Expr sum = arena_.integer(0);
      if (expr.text == "cross") {
        for (std::size_t i = 0; v.size() == 3 && i < 3; ++i) {
          const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
          if (v[i] == array) sum = at(a, j) * at(b, k) - at(a, k) * at(b, j);
        }
      } else {
        for (std::size_t i = 0; i < v.size(); ++i) sum = sum + at(a, i) * at(b, i);
      }
      result.arrays[array] = arena_.mark(sum, expr.span);
    }
    for (const auto& [name, unused] : a.scalars) result.scalars[name] = arena_.integer(0);
    return result;
  }

  /// The operation, member by member.
  Value each(const dsl::Expr& expr, Op op, std::vector<Value> args) {
    const Value* shape = nullptr;
    for (Value& arg : args) {
      if (arg.group < 0) continue;
      if (shape && shape->group != arg.group && !meaning_.reshaped(arg, shape->group)) {
        bool others = true;
        for (Value& other : args) {
          if (&other == &arg) break;
          if (other.group >= 0) others = others && meaning_.reshaped(other, arg.group);
        }
        if (!others) {
          throw ArithmeticError{expr.span, "values of different groups of variables are combined"};
        }
      }
      shape = &arg;
    }
    const auto apply = [&](const auto& member) {
      std::vector<Expr> values;
      for (const Value& arg : args) values.push_back(arg.group < 0 ? arg.scalar : member(arg));
      return arena_.make(op, values, expr.span);
    };
    if (!shape) return scalar_value(apply([](const Value& v) { return v.scalar; }));
    Value result;
    result.group = shape->group;
    for (const auto& [array, unused] : shape->arrays) {
      result.arrays[array] = apply([&](const Value& v) { return v.arrays.at(array); });
    }
    for (const auto& [name, unused] : shape->scalars) {
      result.scalars[name] = apply([&](const Value& v) { return v.scalars.at(name); });
    }
    return result;
  }

  const Meaning& meaning_;
  Arena& arena_;
};

}  // namespace

Value scalar_value(Expr expr) {
  Value value;
  value.scalar = expr;
  return value;
}

Value evaluate(const dsl::Expr& expr, const Meaning& meaning, Arena& arena) {
  return Evaluator(meaning, arena).value(expr);
}

}  // namespace vphi::text
