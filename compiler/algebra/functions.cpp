// Canonical form of functions, conditions and lattice operations: folding and identities.
#include <algorithm>
#include <cmath>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/simplify.hpp"

namespace vphi::algebra {
namespace {

/// What is rewritten: f(x) or f(x, y).
struct Term {
  Arena& arena;
  Op op;
  Expr x, y;
  dsl::Span span;

  Expr number(std::int64_t value) const { return arena.integer(value); }
  Expr make(Op f, std::vector<Expr> args) const { return arena.make(f, std::move(args), span); }
};

bool commutes(Op op) {
  return op == Op::Min || op == Op::Max || op == Op::Equal || op == Op::And || op == Op::Or;
}

/// An identity: where `holds`, the term is `becomes`.
struct Rule {
  Op op;
  const char* text;
  bool (*holds)(const Term&);
  Expr (*becomes)(const Term&);
};

/// The identities, in the order in which they are tried.
std::span<const Rule> rules() {
  using enum Op;
  using T = const Term&;
  static const Rule table[] = {
      {Abs, "abs(x) = x where x >= 0", [](T t) { return is_nonnegative(t.x); },
       [](T t) { return t.x; }},
      {Abs, "abs(c*x) = |c|*abs(x)",
       [](T t) { return t.x.is(Mul) && !t.x->fixed_order && t.x.arg(0).is_number(); },
       [](T t) {
         const Scaled s = scaled(t.x);
         const Expr c = t.make(Abs, {t.arena.number(s.coefficient)});
         return t.make(Mul, {c, t.make(Abs, {s.rest})});
       }},
      {Sign, "sign(c*x) = sign(c)*sign(x)",
       [](T t) { return t.x.is(Mul) && !t.x->fixed_order && t.x.arg(0).is_number(); },
       [](T t) {
         const Scaled s = scaled(t.x);
         return t.make(Mul, {t.number(s.coefficient.real < 0 ? -1 : 1), t.make(Sign, {s.rest})});
       }},
      {Sign, "sign(exp(x)) = 1", [](T t) { return t.x.is(Exp) || t.x.is(Cosh); },
       [](T t) { return t.number(1); }},
      {Sign, "sign(sign(x)) = sign(x)", [](T t) { return t.x.is(Sign); }, [](T t) { return t.x; }},
      {Floor, "floor(floor(x)) = floor(x)",
       [](T t) { return t.x.is(Floor) || t.x.is(Sign) || t.x.is(Site) || is_condition(t.x.op()); },
       [](T t) { return t.x; }},

      {Min, "min(x, x) = x", [](T t) { return t.x == t.y; }, [](T t) { return t.x; }},
      {Max, "max(x, x) = x", [](T t) { return t.x == t.y; }, [](T t) { return t.x; }},
      {Less, "x < x is false", [](T t) { return t.x == t.y; }, [](T t) { return t.number(0); }},
      {Less, "0 < sqrt(x) is 0 < x",
       [](T t) {
         return t.x.is_zero() && t.y.is(Pow) && !t.y->fixed_order && t.y.arg(1).is_number() &&
                same(t.y.arg(1)->number, exact(1, 2));
       },
       [](T t) {
         return t.make(Less, {t.x, t.y.arg(0)});
       }},
      {LessEqual, "x <= x", [](T t) { return t.x == t.y; }, [](T t) { return t.number(1); }},
      {Equal, "x == x", [](T t) { return t.x == t.y; }, [](T t) { return t.number(1); }},
      {And, "false and y", [](T t) { return t.x.is_zero() || t.y.is_zero(); },
       [](T t) { return t.number(0); }},
      {And, "c and c", [](T t) { return t.x == t.y && is_condition(t.x.op()); },
       [](T t) { return t.x; }},
      {And, "true and c", [](T t) { return t.x.is_number() && is_condition(t.y.op()); },
       [](T t) { return t.y; }},
      {And, "c and true", [](T t) { return t.y.is_number() && is_condition(t.x.op()); },
       [](T t) { return t.x; }},
      {Or, "c or c", [](T t) { return t.x == t.y && is_condition(t.x.op()); },
       [](T t) { return t.x; }},
      {Or, "true or y",
       [](T t) {
         return (t.x.is_number() && !t.x.is_zero()) || (t.y.is_number() && !t.y.is_zero());
       },
       [](T t) { return t.number(1); }},
      {Or, "false or c", [](T t) { return t.x.is_zero() && is_condition(t.y.op()); },
       [](T t) { return t.y; }},
      {Or, "c or false", [](T t) { return t.y.is_zero() && is_condition(t.x.op()); },
       [](T t) { return t.x; }},
      {Not, "not not c = c", [](T t) { return t.x.is(Not) && is_condition(t.x.arg(0).op()); },
       [](T t) { return t.x.arg(0); }},
      {Not, "not (x < y) is y <= x", [](T t) { return t.x.is(Less); },
       [](T t) {
         return t.make(LessEqual, {t.x.arg(1), t.x.arg(0)});
       }},
      {Not, "not (x <= y) is y < x", [](T t) { return t.x.is(LessEqual); },
       [](T t) {
         return t.make(Less, {t.x.arg(1), t.x.arg(0)});
       }},
  };
  return table;
}

/// The value where all arguments are numbers and the result is finite.
Expr folded(Arena& arena, Op op, const std::vector<Expr>& args) {
  if (!std::ranges::all_of(args, [](Expr e) { return e.is_number(); })) return {};
  const auto at = [&](int i) -> const Number& { return args[static_cast<std::size_t>(i)]->number; };
  // exact where the operation is
  if (op == Op::Abs) return arena.number(at(0).real < 0 ? negate(at(0)) : at(0));
  if (op == Op::Min) return compare(at(0), at(1)) <= 0 ? args[0] : args[1];
  if (op == Op::Max) return compare(at(0), at(1)) >= 0 ? args[0] : args[1];
  if (op == Op::Less) return arena.integer(compare(at(0), at(1)) < 0);
  if (op == Op::LessEqual) return arena.integer(compare(at(0), at(1)) <= 0);
  if (op == Op::Equal) return arena.integer(compare(at(0), at(1)) == 0);
  if (op == Op::Lookup) {
    const auto& table = arena.table_data(static_cast<int>(args[0]->number.rational.num));
    return arena.real(table_entry(table, static_cast<double>(args[1]->number.real)));
  }
  const auto value = row(op).value_long;
  if (!value) return {};
  std::vector<long double> numbers;
  for (Expr arg : args) numbers.push_back(arg->number.real);
  const long double result = value(numbers.data(), static_cast<int>(numbers.size()));
  return std::isfinite(result) ? arena.real(result) : Expr();
}

/// f(-x) for odd and even f.
Expr by_parity(Arena& arena, Op op, Expr x, dsl::Span span) {
  const Parity parity = row(op).parity;
  if (parity == Parity::None || !has_leading_minus(x)) return {};
  const Expr f = arena.make(op, {-x}, span);
  return parity == Parity::Even ? f : -f;
}

/// A term of a reduced sum: uniform * number * rest, rest a value per site.
struct Separated {
  Expr uniform, rest;
};
Separated separate(Arena& arena, Expr e) {
  std::vector<Expr> uniform, rest;
  for (Expr factor : factors_of(e)) {
    (factor->per_site || factor.is_number() ? rest : uniform).push_back(factor);
  }
  return {product(arena, uniform, {}), product(arena, rest, {})};
}

/// Mean and Total: factors that are the same at all sites come out; terms with the same factor stay
/// in one reduction.
Expr linear_reduction(Arena& arena, Op op, Expr e, dsl::Span span) {
  if (!e->per_site && op == Op::Mean) return e;
  std::vector<Expr> terms{e};
  if (e.is(Op::Add) && !e->fixed_order) terms.assign(e.args().begin(), e.args().end());
  std::vector<Separated> groups;
  for (Expr term : terms) {
    Separated part = separate(arena, term);
    const auto same = std::ranges::find(groups, part.uniform, &Separated::uniform);
    if (same == groups.end()) {
      groups.push_back(part);
    } else {
      same->rest = sum(arena, std::vector{same->rest, part.rest}, {});
    }
  }
  std::vector<Expr> result;
  for (const Separated& g : groups) {
    Expr reduced;
    if (g.rest.is(Op::Mul) && !g.rest->fixed_order && g.rest.arg(0).is_number()) {
      const Scaled s = scaled(g.rest);
      reduced = arena.number(s.coefficient) * arena.canonical(op, std::vector{s.rest}, span);
    } else if (!g.rest->per_site && op == Op::Mean) {
      reduced = g.rest;
    } else {
      reduced = arena.canonical(op, std::vector{g.rest}, span);
    }
    result.push_back(product(arena, std::vector{g.uniform, reduced}, span));
  }
  return sum(arena, result, span);
}

Expr select(Arena& arena, const std::vector<Expr>& args, dsl::Span span) {
  const Expr condition = args[0], value = args[1], otherwise = args[2];
  if (condition.is_number()) return condition.is_zero() ? otherwise : value;
  if (value == otherwise) return value;
  if (condition.is(Op::Not)) {
    return arena.make(Op::Select, {condition.arg(0), otherwise, value}, span);
  }
  // a choice by the same condition inside is known
  if (value.is(Op::Select) && value.arg(0) == condition) {
    return arena.make(Op::Select, {condition, value.arg(1), otherwise}, span);
  }
  if (otherwise.is(Op::Select) && otherwise.arg(0) == condition) {
    return arena.make(Op::Select, {condition, value, otherwise.arg(2)}, span);
  }
  // a*x or x is x times a or 1, which is as exact
  if (value.is(Op::Mul) && !value->fixed_order && !otherwise.is_number()) {
    std::vector<Expr> factors(value.args().begin(), value.args().end());
    const auto own = std::ranges::find(factors, otherwise);
    if (own != factors.end()) {
      factors.erase(own);
      const Expr factor = arena.make(
          Op::Select, {condition, product(arena, factors, span), arena.integer(1)}, span);
      return product(arena, std::vector{factor, otherwise}, span);
    }
  }
  if (is_condition(condition.op()) && value.is_one() && otherwise.is_zero()) return condition;
  return arena.canonical(Op::Select, args, span);
}

}  // namespace

Expr function(Arena& arena, Op op, const std::vector<Expr>& args, dsl::Span span) {
  // min, max, and, or of many arguments are nested from the left
  const bool binary = info(op).arity == 2;
  if (binary && commutes(op) && args.size() != 2 && !args.empty()) {
    Expr result = args[0];
    for (std::size_t i = 1; i < args.size(); ++i) result = arena.make(op, {result, args[i]}, span);
    return result;
  }
  if (const Expr value = folded(arena, op, args)) return value;
  if (op == Op::Select) return select(arena, args, span);
  if (op == Op::Mean || op == Op::Total) return linear_reduction(arena, op, args[0], span);
  if ((op == Op::Minimum || op == Op::Maximum) && !args[0]->per_site) return args[0];
  if (args.size() == 1) {
    if (const Expr result = by_parity(arena, op, args[0], span)) return result;
  }
  if (const Op inner = row(op).undoes; inner != Op::Count_ && args[0].is(inner)) {
    return args[0].arg(0);
  }
  const Term term{arena, op, args[0], args.size() > 1 ? args[1] : Expr(), span};
  for (const Rule& rule : rules()) {
    if (rule.op == op && rule.holds(term)) return rule.becomes(term);
  }
  if (commutes(op) && args[1]->id < args[0]->id) {
    return arena.canonical(op, std::vector{args[1], args[0]}, span);
  }
  return arena.canonical(op, args, span);
}

Expr stencil_of(Arena& arena, int index, Expr argument, dsl::Span span) {
  if (!argument->per_site) {
    std::int64_t total = 0;
    for (std::int64_t weight : arena.stencil_data(index).weights) total += weight;
    if (total == 0) return arena.integer(0);
  }
  std::vector<Expr> terms{argument};
  if (argument.is(Op::Add) && !argument->fixed_order) {
    terms.assign(argument.args().begin(), argument.args().end());
  }
  std::vector<Expr> result;
  for (Expr term : terms) {
    std::vector<Expr> outside, inside;
    for (Expr factor : factors_of(term)) {
      (factor->per_site ? inside : outside).push_back(factor);
    }
    const Expr rest = product(arena, inside, {});
    if (!rest->per_site && terms.size() > 1) {
      outside = {term};
      outside.push_back(stencil_of(arena, index, arena.integer(1), span));
    } else {
      outside.push_back(arena.canonical(Op::Stencil, std::vector{rest}, span, index));
    }
    result.push_back(product(arena, outside, span));
  }
  return sum(arena, result, span);
}

}  // namespace vphi::algebra
