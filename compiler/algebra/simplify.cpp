#include "compiler/algebra/simplify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"

namespace vphi::algebra {
namespace {

bool is_product(Expr e) { return e.is(Op::Mul) && !e->fixed_order; }
bool is_power(Expr e) { return e.is(Op::Pow) && !e->fixed_order; }

/// A sum of terms with a minus sign each.
bool all_negative(Expr e) { return is_sum(e) && std::ranges::all_of(e.args(), has_leading_minus); }

/// number * rest as one node, rest being neither a Number nor a sum with factor -1.
Expr scale(Arena& arena, const Number& coefficient, Expr rest, dsl::Span span) {
  if (is_value(coefficient, 1)) return rest;
  std::vector<Expr> factors{arena.number(coefficient)};
  if (is_product(rest)) {
    factors.insert(factors.end(), rest.args().begin(), rest.args().end());
  } else {
    factors.push_back(rest);
  }
  return arena.canonical(Op::Mul, factors, span);
}

/// Where a term was written; a leaf occurs everywhere, so its first place says nothing of it.
dsl::Span span_of(Expr rest) { return rest->args.empty() ? dsl::Span{} : rest->span; }

/// (2 x + 4 y)/2 is x + 2 y: powers of two cost no rounding, and terms that have a factor of their
/// own no multiplication.
bool takes_factor(Expr e, const Number& c) {
  if (!c.exact || !is_sum(e)) return false;
  const auto power_of_two = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  if (!power_of_two(std::abs(c.rational.num)) || !power_of_two(c.rational.den)) return false;
  return std::ranges::none_of(e.args(), [](Expr term) {
    const Number own = scaled(term).coefficient;
    return is_value(own, 1) || is_value(own, -1);
  });
}

/// -(x - y) is y - x: the one factor that costs no rounding.
Expr negated_sum(Expr e, dsl::Span span) {
  Arena& arena = *e->arena;
  std::vector<Expr> terms;
  for (Expr term : e.args()) {
    const Scaled s = scaled(term);
    terms.push_back(term.is_number()
                        ? arena.number(negate(s.coefficient))
                        : scale(arena, negate(s.coefficient), s.rest, span_of(s.rest)));
  }
  return arena.canonical(Op::Add, terms, span);
}

Expr negative(Arena& arena, Expr e, dsl::Span span) {
  if (is_sum(e)) return negated_sum(e, span);
  return product(arena, std::vector{arena.integer(-1), e}, span);
}

// ---- sums ---------------------------------------------------------------------------------------

/// Terms of a sum on the way: a constant and coefficient * rest, one for each rest.
struct Terms {
  Number constant = exact(0);
  std::vector<Scaled> terms;

  void add(Expr e) {
    if (e.is_number()) {
      constant = algebra::add(constant, e->number);
    } else if (is_sum(e)) {
      for (Expr term : e.args()) add(term);
    } else {
      terms.push_back(scaled(e));
    }
  }

  /// Order of creation of the rests; equal rests become one.
  void merge() {
    std::ranges::stable_sort(terms, {}, [](const Scaled& s) { return s.rest->id; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (kept > 0 && terms[kept - 1].rest == terms[i].rest) {
        Number& c = terms[kept - 1].coefficient;
        c = algebra::add(c, terms[i].coefficient);
      } else {
        terms[kept++] = terms[i];
      }
    }
    terms.resize(kept);
    std::erase_if(terms, [](const Scaled& s) { return s.coefficient.real == 0; });
  }
};

/// c f(u)^2 + c g(u)^2 = c, or its hyperbolic form c f^2 - c g^2 = c.
void merge_squares(Arena& arena, Terms& t, Op f, Op g, bool same_sign) {
  const Number two = exact(2);
  for (std::size_t i = 0; i < t.terms.size(); ++i) {
    const Expr square = t.terms[i].rest;
    if (!is_power(square) || !square.arg(0).is(f) || !square.arg(1).is_number() ||
        !same(square.arg(1)->number, two)) {
      continue;
    }
    const Expr angle = square.arg(0).arg(0);
    const std::vector other{arena.canonical(g, std::vector{angle}, square->span), square.arg(1)};
    const Expr partner = arena.canonical(Op::Pow, other, square->span);
    const auto found = std::ranges::find(t.terms, partner, &Scaled::rest);
    if (found == t.terms.end()) continue;
    const Number c = t.terms[i].coefficient;
    if (!same(found->coefficient, same_sign ? c : negate(c))) continue;
    t.constant = add(t.constant, c);
    t.terms.erase(found);
    std::erase_if(t.terms, [&](const Scaled& s) { return s.rest == square; });
    i = static_cast<std::size_t>(-1);
  }
}

}  // namespace

Scaled scaled(Expr term) {
  if (term.is_number()) return {term->number, term->arena->integer(1)};
  if (is_product(term) && term.arg(0).is_number()) {
    const std::span<const Expr> rest = term.args().subspan(1);
    return {term.arg(0)->number,
            rest.size() == 1 ? rest[0] : term->arena->canonical(Op::Mul, rest, term->span)};
  }
  return {exact(1), term};
}

bool has_leading_minus(Expr e) {
  if (e.is_number()) return e->number.real < 0;
  if (is_product(e)) return e.arg(0).is_number() && e.arg(0)->number.real < 0;
  if (is_sum(e)) return has_leading_minus(e.arg(e.arg(0).is_number() ? 1 : 0));
  return false;
}

bool is_nonnegative(Expr e) {
  if (e.is_number()) return e->number.real >= 0;
  if (is_power(e)) {
    const Expr n = e.arg(1);
    return is_nonnegative(e.arg(0)) ||
           (n.is_number() && (is_even(n->number) || !is_integer(n->number)));
  }
  if (is_product(e) || is_sum(e)) return std::ranges::all_of(e.args(), is_nonnegative);
  return e.is(Op::Abs) || e.is(Op::Exp) || e.is(Op::Cosh) || is_condition(e.op());
}

Expr sum(Arena& arena, std::span<const Expr> args, dsl::Span span) {
  if (span.empty()) span = inherited_span(args);
  Terms t;
  for (Expr arg : args) t.add(arg);
  t.merge();
  merge_squares(arena, t, Op::Sin, Op::Cos, true);
  merge_squares(arena, t, Op::Cosh, Op::Sinh, false);

  std::vector<Expr> result;
  if (t.constant.real != 0 || t.terms.empty()) result.push_back(arena.number(t.constant));
  for (const Scaled& term : t.terms) {
    result.push_back(scale(arena, term.coefficient, term.rest, span_of(term.rest)));
  }
  if (result.size() == 1) return result[0];
  return arena.canonical(Op::Add, result, span);
}

// ---- products -----------------------------------------------------------------------------------

namespace {

struct Factor {
  Expr base;
  Expr exponent;
};

/// Factors of a product on the way: a number and base^exponent, one for each base.
struct Factors {
  Arena& arena;
  Number coefficient = exact(1);
  std::vector<Factor> factors{};

  void multiply(Expr e) {
    if (e.is_number()) {
      coefficient = algebra::multiply(coefficient, e->number);
    } else if (is_product(e)) {
      for (Expr factor : e.args()) multiply(factor);
    } else if (is_power(e)) {
      factors.push_back({e.arg(0), e.arg(1)});
    } else if (all_negative(e)) {
      // (-x - y) z is -(x + y) z
      coefficient = negate(coefficient);
      factors.push_back({negative(arena, e, e->span), arena.integer(1)});
    } else {
      factors.push_back({e, arena.integer(1)});
    }
  }

  /// exp(u)^m exp(v)^n = exp(m u + n v)
  void merge_exponentials() {
    const auto is_exp = [](const Factor& f) { return f.base.is(Op::Exp); };
    const auto first = std::ranges::find_if(factors, is_exp);
    if (std::ranges::all_of(factors, [&](const Factor& f) {
          return !f.base.is(Op::Exp) || f.base == first->base;
        })) {
      return;
    }
    std::vector<Expr> terms;
    for (const Factor& f : factors) {
      if (is_exp(f)) terms.push_back(f.exponent * f.base.arg(0));
    }
    std::erase_if(factors, is_exp);
    multiply(arena.make(Op::Exp, {sum(arena, terms, {})}));
  }

  void merge() {
    std::ranges::stable_sort(factors, {}, [](const Factor& f) { return f.base->id; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (kept > 0 && factors[kept - 1].base == factors[i].base) {
        Expr& n = factors[kept - 1].exponent;
        n = sum(arena, std::vector{n, factors[i].exponent}, {});
      } else {
        factors[kept++] = factors[i];
      }
    }
    factors.resize(kept);
  }
};

}  // namespace

Expr product(Arena& arena, std::span<const Expr> args, dsl::Span span) {
  if (span.empty()) span = inherited_span(args);
  Factors p{arena};
  for (Expr arg : args) p.multiply(arg);
  if (p.coefficient.real == 0) return arena.integer(0);
  p.merge_exponentials();
  p.merge();

  // A merged power may be a number or a product again, once: x^(1/2)*x^(1/2), (2*y)^(1/2) twice.
  std::vector<Expr> powers;
  bool again = false;
  for (const Factor& f : p.factors) {
    const Expr e = f.exponent.is_one() ? f.base : power(arena, f.base, f.exponent, {});
    if (e.is_number()) {
      p.coefficient = multiply(p.coefficient, e->number);
    } else {
      again = again || is_product(e) || (is_power(e) && e.arg(0) != f.base) ||
              (!is_power(e) && e != f.base);
      powers.push_back(e);
    }
  }
  if (p.coefficient.real == 0) return arena.integer(0);
  if (again) {
    powers.push_back(arena.number(p.coefficient));
    return product(arena, powers, span);
  }
  if (powers.empty()) return arena.number(p.coefficient);
  if (powers.size() == 1) {
    if (is_value(p.coefficient, 1)) return powers[0];
    if (is_value(p.coefficient, -1) && is_sum(powers[0])) return negated_sum(powers[0], span);
    if (takes_factor(powers[0], p.coefficient)) {
      std::vector<Expr> terms;
      const Expr c = arena.number(p.coefficient);
      for (Expr term : powers[0].args()) terms.push_back(product(arena, std::vector{c, term}, {}));
      return sum(arena, terms, span);
    }
  }
  if (!is_value(p.coefficient, 1)) powers.insert(powers.begin(), arena.number(p.coefficient));
  return arena.canonical(Op::Mul, powers, span);
}

// ---- powers -------------------------------------------------------------------------------------

namespace {

bool is_odd(Expr n) { return n.is_number() && is_integer(n->number) && !is_even(n->number); }

Expr plain_power(Arena& arena, Expr base, Expr exponent, dsl::Span span) {
  return arena.canonical(Op::Pow, std::vector{base, exponent}, span);
}

/// (x^m)^n
Expr power_of_power(Arena& arena, Expr base, Expr n, dsl::Span span) {
  const Expr x = base.arg(0), m = base.arg(1);
  const Expr mn = product(arena, std::vector{m, n}, {});
  const bool m_even = m.is_number() && is_even(m->number);
  if ((n.is_number() && is_integer(n->number)) || !m_even || is_nonnegative(x)) {
    return power(arena, x, mn, span);
  }
  // sqrt(x^2) = |x|
  return power(arena, arena.make(Op::Abs, {x}, span), mn, span);
}

bool is_positive(Expr e) {
  return e.is(Op::Exp) || e.is(Op::Cosh) || (e.is_number() && e->number.real > 0);
}

/// (c x y)^n
Expr power_of_product(Arena& arena, Expr base, Expr n, dsl::Span span) {
  const bool integer = n.is_number() && is_integer(n->number);
  // A factor that may be 0 must not leave a negative one behind: sqrt(0*(-1)) is 0.
  const bool any = integer || std::ranges::all_of(base.args(), is_nonnegative);
  std::vector<Expr> outside, inside;
  for (Expr factor : base.args()) {
    bool out = any || is_positive(factor);
    if (!integer && factor.is_number()) {
      // only exact roots: sqrt(2*x) stays one root
      const auto value = out && n.is_number() ? power(factor->number, n->number) : std::nullopt;
      out = value && value->exact;
    }
    (out ? outside : inside).push_back(factor);
  }
  if (outside.empty()) return plain_power(arena, base, n, span);
  for (Expr& factor : outside) factor = power(arena, factor, n, span);
  if (!inside.empty()) {
    const Expr rest = inside.size() == 1 ? inside[0] : arena.canonical(Op::Mul, inside, {});
    outside.push_back(power(arena, rest, n, span));
  }
  return product(arena, outside, span);
}

/// exp(x)^n
Expr power_of_exp(Arena& arena, Expr base, Expr n, dsl::Span span) {
  const bool integer = n.is_number() && is_integer(n->number);
  if (integer && n->number.real > 0) return plain_power(arena, base, n, span);
  if (!integer) {
    return arena.make(Op::Exp, {product(arena, std::vector{n, base.arg(0)}, {})}, span);
  }
  const Expr inverse = arena.make(Op::Exp, {negative(arena, base.arg(0), {})}, span);
  return power(arena, inverse, negative(arena, n, {}), span);
}

}  // namespace

Expr power(Arena& arena, Expr base, Expr exponent, dsl::Span span) {
  if (exponent.is_zero()) return arena.integer(1);
  if (exponent.is_one() || base.is_one()) return base;
  if (base.is_number() && exponent.is_number()) {
    const auto value = power(base->number, exponent->number);
    return value ? arena.number(*value) : plain_power(arena, base, exponent, span);
  }
  if (is_power(base)) return power_of_power(arena, base, exponent, span);
  if (is_product(base)) return power_of_product(arena, base, exponent, span);
  if (base.is(Op::Exp)) return power_of_exp(arena, base, exponent, span);
  if (exponent.is_number() && is_even(exponent->number)) {
    if (base.is(Op::Abs)) return power(arena, base.arg(0), exponent, span);
    if (is_sum(base) && has_leading_minus(base)) {
      return plain_power(arena, negative(arena, base, base->span), exponent, span);
    }
  }
  if (is_odd(exponent) && all_negative(base)) {
    return negative(arena, power(arena, negative(arena, base, base->span), exponent, span), span);
  }
  if (exponent.is_number() && exponent->number.real > 0 && is_condition(base.op())) return base;
  return plain_power(arena, base, exponent, span);
}

}  // namespace vphi::algebra
