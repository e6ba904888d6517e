#include "compiler/schedule/solver/solver_text.hpp"

#include <cstdlib>

#include "compiler/text/squares.hpp"

namespace vphi::schedule {
namespace {

using algebra::Arena;
using algebra::Expr;
using algebra::Op;
using dsl::ExprKind;
using physics::Component;
using physics::Value;
using text::ArithmeticError;

class SolverValues {
 public:
  SolverValues(const SolverMeaning& meaning, Arena& arena) : meaning_(meaning), arena_(arena) {}

  Value value(const dsl::Expr& e) {
    try {
      return marked(unmarked(e), e.span);
    } catch (const physics::ShapeError& error) {
      throw ArithmeticError{e.span, error.what()};
    }
  }

 private:
  Value marked(Value v, dsl::Span span) const {
    for (Component& c : v.parts) {
      c.re = arena_.mark(c.re, span);
      if (c.im) c.im = arena_.mark(c.im, span);
    }
    return v;
  }

  Value unmarked(const dsl::Expr& e) {
    const auto arg = [&](std::size_t i) { return value(*e.args[i]); };
    switch (e.kind) {
      case ExprKind::Number:
        return number(e);
      case ExprKind::Name:
        return meaning_.name(e);
      case ExprKind::Unary:
        if (e.text == "-") return physics::negate(arg(0));
        return Value::of(arena_.make(Op::Not, {real(*e.args[0])}));
      case ExprKind::Binary:
        return binary(e);
      case ExprKind::Select:
        return select(real(*e.args[1]), arg(0), arg(2));
      case ExprKind::Call:
        return call(e);
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
    throw ArithmeticError{e.span, "this is no arithmetic on fields and numbers"};
  }

  Value number(const dsl::Expr& e) {
    const Expr size = physics::decimal(arena_, e.text);
    return e.imaginary ? Value::of(arena_.integer(0), size) : Value::of(size);
  }

  Expr real(const dsl::Expr& e) {
    const Value v = value(e);
    if (!v.scalar() || !v.parts[0].real()) throw ArithmeticError{e.span, "a real number is wanted"};
    return v.parts[0].re;
  }

  static Value select(Expr condition, const Value& yes, const Value& no) {
    if (yes.parts.size() != no.parts.size())
      throw physics::ShapeError("two shapes are chosen from");
    Arena& arena = *condition->arena;
    const bool complex = yes.complex() || no.complex();
    const auto of = [&](Expr a, Expr b) { return arena.make(Op::Select, {condition, a, b}); };
    const auto im = [&](const Component& c) { return c.im ? c.im : arena.integer(0); };
    Value result{yes.rows, yes.columns, {}};
    for (std::size_t i = 0; i < yes.parts.size(); ++i) {
      const Component &a = yes.parts[i], &b = no.parts[i];
      result.parts.push_back({of(a.re, b.re), complex ? of(im(a), im(b)) : Expr{}});
    }
    return result;
  }

  Value binary(const dsl::Expr& e) {
    static const std::map<std::string, Op> kConditions = {
        {"<", Op::Less},   {"<=", Op::LessEqual}, {">", Op::Less}, {">=", Op::LessEqual},
        {"==", Op::Equal}, {"and", Op::And},      {"or", Op::Or}};
    if (const auto op = kConditions.find(e.text); op != kConditions.end()) {
      Expr a = real(*e.args[0]), b = real(*e.args[1]);
      if (e.text[0] == '>') std::swap(a, b);
      return Value::of(arena_.make(op->second, {a, b}));
    }
    const Value a = value(*e.args[0]), b = value(*e.args[1]);
    if (e.text == "+") return physics::add(a, b);
    if (e.text == "-") return physics::subtract(a, b);
    if (e.text == "*") return physics::multiply(a, b);
    if (e.text == "/") return physics::divide(a, b);
    if (e.text == "^") return physics::power(a, b);
    throw ArithmeticError{e.span, "unknown operation `" + e.text + "`"};
  }

  void wants(const dsl::Expr& e, std::size_t count) const {
    if (e.args.size() == count && e.named.empty()) return;
    throw ArithmeticError{e.span, "`" + e.text + "` takes " + std::to_string(count) +
                                      (count == 1 ? " argument" : " arguments")};
  }

  Value call(const dsl::Expr& e) {
    if (const Value* known = meaning_.known ? meaning_.known(e) : nullptr) return *known;
    if (e.text == meaning_.op) {
      wants(e, 1);
      return meaning_.apply(e, value(*e.args[0]), false);
    }
    if (e.text == "adj" && e.args.size() == 2) {
      if (e.args[0]->kind != ExprKind::Name || e.args[0]->text != meaning_.op) {
        throw ArithmeticError{e.args[0]->span, "`adj` takes the operator of the head first"};
      }
      return meaning_.apply(e, value(*e.args[1]), true);
    }
    if (e.text == text::kHalfway) return meaning_.halfway(value(*e.args[0]));
    if (e.text == "inner" || e.text == "again") {
      wants(e, 2);
      if (!meaning_.inner)
        throw ArithmeticError{e.span, "this text runs around a solver: cg(1e-12, inner = f32)"};
      return meaning_.inner(e);
    }
    if (e.text == "dot") {
      wants(e, 2);
      const Value a = value(*e.args[0]), b = value(*e.args[1]);
      if (a.parts.size() != b.parts.size()) throw physics::ShapeError("two shapes are multiplied");
      return Value{1, 1, {physics::dot_product(a, b)}};
    }
    if (e.text == "min" || e.text == "max") {
      wants(e, 2);
      return Value::of(
          arena_.make(e.text == "min" ? Op::Min : Op::Max, {real(*e.args[0]), real(*e.args[1])}));
    }
    wants(e, 1);
    const Value v = value(*e.args[0]);
    if (e.text == "norm2") return Value::of(physics::norm2(v));
    if (e.text == "total") {
      if (!v.scalar()) throw ArithmeticError{e.span, "`total` takes a number at each site"};
      Value sum = v;
      for (Component& c : sum.parts) {
        c.re = arena_.make(Op::Total, {c.re});
        if (c.im) c.im = arena_.make(Op::Total, {c.im});
      }
      return sum;
    }
    Value result = v;
    for (Component& c : result.parts) {
      const Expr im = c.im ? c.im : arena_.integer(0);
      if (e.text == "conj") {
        c = physics::conjugate(c);
      } else if (e.text == "re") {
        c = {c.re, {}};
      } else if (e.text == "im") {
        c = {im, {}};
      } else if (e.text == "abs") {
        c = {c.im ? algebra::pow(physics::norm2(c), arena_.rational(1, 2))
                  : arena_.make(Op::Abs, {c.re}),
             {}};
      } else if (e.text == "sqrt" && c.real()) {
        c = {algebra::pow(c.re, arena_.rational(1, 2)), {}};
      } else {
        throw ArithmeticError{e.span, "`" + e.text + "` is not a function that a solver can call"};
      }
    }
    return result;
  }

  const SolverMeaning& meaning_;
  Arena& arena_;
};

}  // namespace

physics::Value evaluate(const dsl::Expr& expr, const SolverMeaning& meaning, Arena& arena) {
  return SolverValues(meaning, arena).value(expr);
}

}  // namespace vphi::schedule
