#include "compiler/physics/fields/deviation.hpp"

#include <cmath>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

bool reduces_sites(Expr e) {
  return e.is(Op::Mean) || e.is(Op::Total) || e.is(Op::Minimum) || e.is(Op::Maximum);
}

}  // namespace

BaseAndRest Splitting::operator()(Expr value) { return split(value); }

Expr Splitting::sum(Expr value) {
  const BaseAndRest parts = split(value);
  return or_zero(parts.base) + or_zero(parts.rest);
}

Expr Splitting::whole(Expr value) {
  algebra::Substitution replaced;
  algebra::visit(value, [&](Expr node) {
    if (reduces_sites(node) || node.is(Op::Stencil)) {
      const BaseAndRest parts = split(node);
      replaced.add(node, or_zero(parts.base) + or_zero(parts.rest));
    } else if (node.is(Op::Load)) {
      const auto reference = references_.find(node->index);
      if (reference != references_.end()) replaced.add(node, reference->second + node);
    }
  });
  return replaced(value);
}

bool Splitting::refers(Expr e) const {
  return algebra::contains(
      e, [&](Expr node) { return node.is(Op::Load) && references_.contains(node->index); });
}

BaseAndRest Splitting::split(Expr e) {
  if (const auto known = known_.find(e.get()); known != known_.end()) return known->second;
  const auto fresh = [&]() -> BaseAndRest {
    switch (e.op()) {
      case Op::Number:
      case Op::Symbol:
        return {e, {}};
      case Op::Load: {
        const auto reference = references_.find(e->index);
        if (reference == references_.end()) return {{}, e};
        return {reference->second, e};
      }
      case Op::Add: {
        std::vector<Expr> bases, rests;
        for (const Expr arg : e.args()) {
          const BaseAndRest part = split(arg);
          if (part.base) bases.push_back(part.base);
          if (part.rest) rests.push_back(part.rest);
        }
        Expr base = arena_.make(Op::Add, std::move(bases), e->span);
        Expr rest = arena_.make(Op::Add, std::move(rests), e->span);
        return {base.is_zero() ? Expr() : base, rest.is_zero() ? Expr() : rest};
      }
      case Op::Mul:
        return product(e);
      case Op::Pow:
        return power(e);
      case Op::Stencil: {
        // of a scalar it is the sum of its weights: 0 (checked by `with_references`)
        const BaseAndRest inner = split(e.arg(0));
        if (!inner.rest) return {};
        const Expr rest = arena_.stencil(e->index, inner.rest, e->span);
        return {{}, rest.is_zero() ? Expr() : rest};
      }
      case Op::Mean:
      case Op::Total:
      case Op::Minimum:
      case Op::Maximum:
        return reduction(e);
      case VPHI_DRAWS:
      case VPHI_ORDERED_ARITHMETIC:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Site:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Lookup:
      case Op::PairSum:
      case Op::Count_:
        break;
    }
    return function(e);
  };
  const BaseAndRest result = fresh();
  known_[e.get()] = result;
  return result;
}

// (b1 + r1)(b2 + r2) - b1 b2 = r1 (b2 + r2) + b1 r2
BaseAndRest Splitting::product(Expr e) {
  BaseAndRest all{arena_.integer(1), {}};
  for (const Expr arg : e.args()) {
    const BaseAndRest next = split(arg);
    const Expr after = all.rest && next.rest && next.base
                           ? whole(arg)
                           : or_zero(next.base ? next.base : next.rest);
    Expr rest = all.rest ? all.rest * after : Expr();
    if (next.rest && all.base) rest = or_zero(rest) + all.base * next.rest;
    all.base = all.base && next.base ? all.base * next.base : Expr();
    all.rest = rest && !rest.is_zero() ? arena_.mark(rest, e->span) : Expr();
  }
  return all;
}

/// (b + r)^n - b^n = r (n b^(n-1) + r (n (n-1)/2 b^(n-2) + ... + r)).
Expr Splitting::integer_power(Expr base, Expr rest, int n) {
  Expr sum = arena_.integer(1);
  std::int64_t choose = 1;
  for (int k = n - 1; k >= 1; --k) {  // b^(n-k) C(n, k)
    choose = choose * (k + 1) / (n - k);
    sum = sum * rest + arena_.integer(choose) * algebra::pow(base, n - k);
  }
  return rest * sum;
}

BaseAndRest Splitting::power(Expr e) {
  constexpr int kHighest = 12;
  const BaseAndRest base = split(e.arg(0)), exponent = split(e.arg(1));
  if (!base.rest && !exponent.rest)
    return {algebra::pow(or_zero(base.base), or_zero(exponent.base)), {}};
  if (exponent.rest) {
    const auto number = algebra::constant(e.arg(0));
    if (!number || !(number->real > 0)) return as_it_is(e);
    const Expr log = arena_.make(Op::Log, {e.arg(0)});
    const Expr b = log * or_zero(exponent.base);
    return {arena_.make(Op::Exp, {b}), difference(Op::Exp, b, log * exponent.rest)};
  }
  const Expr b = base.base, r = base.rest, p = or_zero(exponent.base);
  if (!b) return {{}, algebra::pow(r, p)};
  const Expr before = algebra::pow(b, p), after = algebra::pow(whole(e.arg(0)), p);
  const auto number = algebra::constant(p);
  const double twice = number ? static_cast<double>(2 * number->real) : 0.5;
  if (twice != std::floor(twice) || std::fabs(twice) > 2 * kHighest) {
    // b^p (e^y - 1), y = p log(1 + r/b)
    const Expr two = arena_.integer(2), half = arena_.rational(1, 2);
    const Expr y = two * p * arena_.make(Op::Atanh, {r / (two * b + r)});
    const Expr change = two * arena_.make(Op::Exp, {half * y}) * arena_.make(Op::Sinh, {half * y});
    return {before, before * change};
  }
  const int whole_number = static_cast<int>(std::fabs(twice));
  Expr change;
  if (whole_number % 2 == 0) {
    change = integer_power(b, r, whole_number / 2);
    if (twice < 0) change = -change * before * after;
    return {before, change};
  }
  // x^(q/2): the difference of x^q over the sum of the roots
  change = integer_power(b, r, whole_number);
  if (twice < 0) change = -change * algebra::pow(before * after, 2);
  return {before, change / (before + after)};
}

/// f(b + r) - f(b).
Expr Splitting::difference(Op op, Expr b, Expr r) {
  const auto f = [&](Op g, Expr x) { return arena_.make(g, {x}); };
  const Expr one = arena_.integer(1), two = arena_.integer(2), half = arena_.rational(1, 2) * r;
  if (op == Op::Exp) return two * f(Op::Exp, b) * f(Op::Exp, half) * f(Op::Sinh, half);
  if (op == Op::Log) return two * f(Op::Atanh, r / (two * b + r));
  if (op == Op::Sin) return two * f(Op::Cos, b + half) * f(Op::Sin, half);
  if (op == Op::Cos) return -two * f(Op::Sin, b + half) * f(Op::Sin, half);
  if (op == Op::Sinh) return two * f(Op::Cosh, b + half) * f(Op::Sinh, half);
  if (op == Op::Cosh) return two * f(Op::Sinh, b + half) * f(Op::Sinh, half);
  if (op == Op::Atan) return arena_.make(Op::Atan2, {r, one + b * (b + r)});
  if (op == Op::Tan || op == Op::Tanh) {
    const Expr t = f(op, r), at = f(op, b);
    return op == Op::Tan ? t * (one + at * at) / (one - at * t)
                         : t * (one - at * at) / (one + at * t);
  }
  return {};
}

BaseAndRest Splitting::function(Expr e) {
  if (e.args().size() == 1 && !e.is(Op::PairSum)) {
    const BaseAndRest inner = split(e.arg(0));
    if (!inner.rest) return {arena_.make(e.op(), {or_zero(inner.base)}, e->span), {}};
    const bool log_of_rest = e.is(Op::Log) && !inner.base;
    const Expr change = log_of_rest ? Expr() : difference(e.op(), or_zero(inner.base), inner.rest);
    if (change) {
      const Expr base = arena_.make(e.op(), {or_zero(inner.base)}, e->span);
      return {base.is_zero() ? Expr() : base, arena_.mark(change, e->span)};
    }
  }
  return as_it_is(e);
}

BaseAndRest Splitting::as_it_is(Expr e) {
  const bool scalar = !algebra::per_site(e) && !algebra::contains(e, reduces_sites);
  const bool random = e.is(Op::Noise) || e.is(Op::Normal) || e.is(Op::Uniform);
  if (scalar && !random) return {e, {}};
  if (!refers(e)) return {{}, e};
  unknown = algebra::info(e.op()).name;
  return {{}, whole(e)};
}

bool Splitting::averages_to_zero(Expr site) const {
  if (!site || !site.is(Op::Stencil)) return false;
  for (int axis = 0; axis < system_.lattice.dims; ++axis)
    if (system_.lattice.boundary[static_cast<std::size_t>(axis)] != Boundary::Periodic)
      return false;
  std::int64_t sum = 0;
  for (const std::int64_t weight : arena_.stencil_data(site->index).weights) sum += weight;
  return sum == 0;
}

/// Splits a sum or mean. Terms whose exact average is 0, such as P lap d, are left out: they would
/// add rounding alone.
BaseAndRest Splitting::reduction(Expr e) {
  const BaseAndRest inner = split(e.arg(0));
  const bool total = e.is(Op::Total);
  Expr base = inner.base;
  if (base && total) base = base * arena_.integer(system_.lattice.sites());
  if (!inner.rest) return {base, {}};
  Expr rest = inner.rest;
  if (total || e.is(Op::Mean)) {
    std::vector<kernel::Term> terms = kernel::linear_terms(rest);
    if (std::erase_if(terms, [&](const kernel::Term& t) { return averages_to_zero(t.site); }) > 0)
      rest = kernel::sum_of(arena_, terms);
    if (rest.is_zero()) return {base, {}};
  }
  return {base, arena_.make(e.op(), {rest}, e->span)};
}

}  // namespace vphi::physics
