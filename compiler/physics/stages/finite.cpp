// Checks that all numbers in equations, initial values and outputs are finite: no 1/0, log(0) or
// 0^-2.
#include <cmath>
#include <set>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

namespace {

using algebra::Op;

class Finite {
 public:
  explicit Finite(const Context& d) : d_(d) {}

  /// `place` is used for the message if the number itself has no span.
  void check(Expr e, dsl::Span place) {
    if (!e || !seen_.insert(e.get()).second) return;
    if (!finite(e)) {
      dsl::Span span = e->span.empty() ? place : e->span;
      d_.fail(errors::not_a_number(span, span.empty() ? "a number" : named(span)));
    }
    const dsl::Span inner = e->span.empty() ? place : e->span;
    for (const Expr arg : e.args()) check(arg, inner);
  }

 private:
  std::string named(dsl::Span span) const {
    const std::string text = written(d_, span);
    return text.empty() || text.size() > 60 ? "a number here" : "`" + text + "`";
  }

  /// False where an operation on numbers is left, because folding it would not give a finite
  /// number.
  static bool finite(Expr e) {
    if (e.is(Op::Number)) return std::isfinite(e->number.real);
    if (e.args().empty() || !e.arg(0).is(Op::Number)) return true;
    const long double x = e.arg(0)->number.real;
    if (e.is(Op::Log)) return x > 0;
    if (e.is(Op::Pow) && e.arg(1).is(Op::Number))
      return std::isfinite(std::pow(x, e.arg(1)->number.real));
    return true;
  }

  const Context& d_;
  std::set<const algebra::Node*> seen_;
};

}  // namespace

void check_finite(const Context& d, const System& system) {
  Finite finite(d);
  for (const Variable& v : system.variables) finite.check(v.rate, v.span);
  for (const ScalarVariable& s : system.scalars) {
    finite.check(s.rate, {});
    finite.check(s.initial, {});
  }
  for (const Derived& limit : system.limits) finite.check(limit.value, {});
  for (const InitialValue& value : system.initial) finite.check(value.value, {});
  for (const OutputClause& output : system.outputs)
    for (const Observable& observable : output.observables)
      finite.check(observable.value, observable.span);
}

}  // namespace vphi::physics
