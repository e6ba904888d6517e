#include "compiler/gauge/arithmetic.hpp"

#include <utility>

namespace vphi::gauge {

using algebra::Op;

namespace {

/// A value without its sign.
struct Signed {
  Expr value;
  bool negative = false;
};

Signed split(Expr e) {
  if (e.is(Op::Neg)) return {e.arg(0), true};
  if (e.is_number() && e->number.real < 0) return {-e, true};
  return {e, false};
}

Expr raw(Op op, Expr a, Expr b) { return a->arena->raw(op, {a, b}); }

/// a + b, neither with a sign in front.
Expr sum(Expr a, Expr b) {
  if (a.is_number() && b.is_number()) return a + b;
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a == b) return times(number(a, 2), a);
  if (b->id < a->id) std::swap(a, b);
  return raw(Op::Add, a, b);
}

/// a - b, neither with a sign in front.
Expr difference(Expr a, Expr b) {
  if (a == b) return number(a, 0);
  if (a.is_number() && b.is_number()) return a - b;
  if (b.is_zero()) return a;
  if (a.is_zero()) return negative(b);
  if (b->id < a->id) return negative(raw(Op::Sub, b, a));
  return raw(Op::Sub, a, b);
}

/// u*v; two exact numbers in a row are one.
Expr scaled(Expr u, Expr v) {
  const bool twice = u.is_number() && u->number.exact && v.is(Op::Mul) && v->fixed_order &&
                     v.arg(0).is_number() && v.arg(0)->number.exact;
  return twice ? times(u * v.arg(0), v.arg(1)) : raw(Op::Mul, u, v);
}

}  // namespace

Expr negative(Expr a) {
  if (a.is_number()) return -a;
  return a.is(Op::Neg) ? a.arg(0) : a->arena->raw(Op::Neg, {a});
}

Expr plus(Expr a, Expr b) {
  const Signed x = split(a), y = split(b);
  if (x.negative && y.negative) return negative(sum(x.value, y.value));
  if (x.negative) return difference(y.value, x.value);
  return y.negative ? difference(x.value, y.value) : sum(x.value, y.value);
}

Expr minus(Expr a, Expr b) { return plus(a, negative(b)); }

Expr times(Expr a, Expr b) {
  const Signed x = split(a), y = split(b);
  Expr u = x.value, v = y.value;
  if (u.is_zero() || v.is_zero()) return number(u, 0);
  Expr product;
  if (u.is_number() && v.is_number()) {
    product = u * v;
  } else if (u.is_one()) {
    product = v;
  } else if (v.is_one()) {
    product = u;
  } else {
    // numbers first, as in any other text
    if (v.is_number() || (!u.is_number() && v->id < u->id)) std::swap(u, v);
    product = scaled(u, v);
  }
  return x.negative != y.negative ? negative(product) : product;
}

Expr over(Expr a, Expr b) {
  const Signed x = split(a), y = split(b);
  if (x.value.is_zero()) return x.value;
  Expr quotient;
  if (y.value.is_one()) {
    quotient = x.value;
  } else if (x.value.is_number() && y.value.is_number() && !y.value.is_zero()) {
    quotient = x.value / y.value;
  } else {
    quotient = raw(Op::Div, x.value, y.value);
  }
  return x.negative != y.negative ? negative(quotient) : quotient;
}

Expr square(Expr a) {
  const Expr x = split(a).value;
  return times(x, x);
}

Expr root(Expr a) {
  if (a.is_number()) return a->arena->make(Op::Sqrt, {a});
  return a->arena->raw(Op::Sqrt, {a});
}

Expr apply(Op op, Expr a) { return a->arena->make(op, {a}); }
Expr apply(Op op, Expr a, Expr b) { return a->arena->make(op, {a, b}); }
Expr select(Expr condition, Expr value, Expr otherwise) {
  return condition->arena->make(Op::Select, {condition, value, otherwise});
}

Expr number(Expr like, std::int64_t value) { return like->arena->integer(value); }

}  // namespace vphi::gauge
