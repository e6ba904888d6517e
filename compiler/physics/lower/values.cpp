#include "compiler/physics/lower/values.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/spinors/spinors.hpp"

namespace vphi::physics {

namespace {

Expr zero(Expr like) { return like->arena->integer(0); }
Expr imaginary(const Component& a) { return a.im ? a.im : zero(a.re); }

template <typename Combine>
Value pointwise(const Value& a, const Value& b, const char* what, Combine combine) {
  if (a.rows != b.rows || a.columns != b.columns) throw ShapeError(what);
  Value result{a.rows, a.columns, {}};
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    result.parts.push_back(combine(a.parts[i], b.parts[i]));
  }
  return result;
}

template <typename Change>
Value each(const Value& a, Change change) {
  Value result{a.rows, a.columns, {}};
  for (const Component& part : a.parts) result.parts.push_back(change(part));
  return result;
}

/// Whether the value has one part: a constant beside a vector of one component is that component.
bool single(const Value& a) { return a.parts.size() == 1; }

}  // namespace

bool Value::complex() const {
  for (const Component& part : parts) {
    if (part.im) return true;
  }
  return false;
}

Value Value::vector(std::vector<Component> parts) {
  const int rows = static_cast<int>(parts.size());
  return {rows, 1, std::move(parts)};
}

Component add(Component a, Component b) {
  if (a.real() && b.real()) return {a.re + b.re, {}};
  return {a.re + b.re, imaginary(a) + imaginary(b)};
}

Component subtract(Component a, Component b) {
  if (a.real() && b.real()) return {a.re - b.re, {}};
  return {a.re - b.re, imaginary(a) - imaginary(b)};
}

Component multiply(Component a, Component b) {
  if (a.real() && b.real()) return {a.re * b.re, {}};
  if (a.real()) return {a.re * b.re, a.re * b.im};
  if (b.real()) return {a.re * b.re, a.im * b.re};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Component divide(Component a, Component b) {
  if (b.real()) return a.real() ? Component{a.re / b.re, {}} : Component{a.re / b.re, a.im / b.re};
  const Expr size = norm2(b);
  const Component up = multiply(a, conjugate(b));
  return {up.re / size, up.im / size};
}

Component conjugate(Component a) { return a.real() ? a : Component{a.re, -a.im}; }

Component dot_product(const Value& a, const Value& b) {
  Component sum = multiply(conjugate(a.parts[0]), b.parts[0]);
  for (std::size_t i = 1; i < a.parts.size(); ++i)
    sum = add(sum, multiply(conjugate(a.parts[i]), b.parts[i]));
  return sum;
}

Expr norm2(Component a) {
  const Expr square = algebra::pow(a.re, 2);
  return a.real() ? square : square + algebra::pow(a.im, 2);
}

LinkPath inverse(const LinkPath& path) {
  using gauge::operator+;
  return {path.start + gauge::displacement(path.word), gauge::inverse(path.word), path.of,
          path.links};
}

std::shared_ptr<const LinkPath> joined(const LinkPath& a, const LinkPath& b) {
  using gauge::operator+;
  if (!(a.start + gauge::displacement(a.word) == b.start)) return nullptr;
  const bool other = a.of != b.of || a.links != b.links;
  if (other && !a.word.empty() && !b.word.empty()) return nullptr;
  LinkPath both = a;
  if (a.word.empty()) both.of = b.of, both.links = b.links;
  both.word.insert(both.word.end(), b.word.begin(), b.word.end());
  return std::make_shared<const LinkPath>(std::move(both));
}

Paths sole_path(Arena& arena, LinkPath path) {
  return std::make_shared<const PathSum>(PathSum{{{arena.integer(1), {}}, std::move(path)}});
}

const LinkPath* sole_path(const Paths& paths) {
  if (!paths || paths->size() != 1) return nullptr;
  const PathTerm& term = paths->front();
  return term.weight.real() && term.weight.re.is_one() ? &term.path : nullptr;
}

Paths inverse(const Paths& paths) {
  if (!paths) return nullptr;
  PathSum result;
  for (const PathTerm& term : *paths)
    result.push_back({conjugate(term.weight), inverse(term.path)});
  return std::make_shared<const PathSum>(std::move(result));
}

Paths shifted(const Paths& paths, algebra::Offset offset, const algebra::Mover& move) {
  using gauge::operator+;
  if (!paths) return nullptr;
  PathSum result = *paths;
  for (PathTerm& term : result) {
    term.path.start = term.path.start + offset;
    term.weight.re = move(term.weight.re, offset);
    if (term.weight.im) term.weight.im = move(term.weight.im, offset);
  }
  return std::make_shared<const PathSum>(std::move(result));
}

Paths joined(const Paths& a, const Paths& b) {
  if (!a || !b) return nullptr;
  PathSum result;
  for (const PathTerm& x : *a) {
    for (const PathTerm& y : *b) {
      const auto path = joined(x.path, y.path);
      if (!path) return nullptr;
      result.push_back({multiply(x.weight, y.weight), *path});
    }
  }
  return std::make_shared<const PathSum>(std::move(result));
}

namespace {

/// Each number of the sum changed by c.
Paths scaled(const Paths& paths, Component c, Component (*change)(Component, Component)) {
  if (!paths) return nullptr;
  PathSum result = *paths;
  for (PathTerm& term : result) term.weight = change(term.weight, c);
  return std::make_shared<const PathSum>(std::move(result));
}

/// The paths of a value; a number beside links of one colour is that number times no link.
Paths paths_beside(const Value& v, Paths Value::*which, const Value& other) {
  if (v.*which || !(other.*which) || !v.scalar() || !other.scalar() || v.path || v.links)
    return v.*which;
  return std::make_shared<const PathSum>(PathSum{{v.parts[0], {}}});
}

/// The sum a + sign*b with the paths of both carried over.
Value with_paths(Value sum, const Value& a, const Value& b, int sign) {
  for (Paths Value::*which : {&Value::path, &Value::links}) {
    const Paths x = paths_beside(a, which, b), y = paths_beside(b, which, a);
    if (!x || !y) continue;
    PathSum both = *x;
    for (PathTerm term : *y) {
      if (sign < 0) term.weight = subtract({term.weight.re->arena->integer(0), {}}, term.weight);
      both.push_back(std::move(term));
    }
    sum.*which = std::make_shared<const PathSum>(std::move(both));
  }
  return sum;
}

/// `product`, which is c times x or x over c, with the paths of x carried over.
Value with_scaled_paths(Value product, const Value& x, const Value& c,
                        Component (*change)(Component, Component)) {
  if (c.path || c.links) return product;
  product.path = scaled(x.path, c.parts[0], change);
  product.links = scaled(x.links, c.parts[0], change);
  return product;
}

bool real_scalar(const Value& v) { return v.scalar() && v.parts[0].real() && !v.acts; }

/// The sum a + sign*b with the gaps of both carried over.
Value with_gaps(Value sum, const Value& a, const Value& b, int sign) {
  if ((!a.gap && !b.gap) || !real_scalar(a) || !real_scalar(b)) return sum;
  Arena& arena = *sum.parts[0].re->arena;
  const auto of = [&](const Value& v) {
    return v.gap ? *v.gap : Gap{v.parts[0].re, arena.integer(0)};
  };
  const Gap x = of(a), y = of(b);
  const Gap both =
      sign > 0 ? Gap{x.most + y.most, x.gap + y.gap} : Gap{x.most - y.most, x.gap - y.gap};
  if (both.most.is_zero()) sum.parts[0].re = -both.gap;
  sum.gap = std::make_shared<const Gap>(both);
  return sum;
}

/// `product`, which is c times x or x over c, with the gap of x carried over.
Value with_scaled_gap(Value product, const Value& x, const Value& c,
                      Component (*change)(Component, Component)) {
  if (!x.gap || !real_scalar(x) || !real_scalar(c)) return product;
  const auto scaled = [&](Expr e) { return change({e, {}}, c.parts[0]).re; };
  product.gap = std::make_shared<const Gap>(Gap{scaled(x.gap->most), scaled(x.gap->gap)});
  return product;
}

/// Whether b is the adjoint of a, part by part.
bool is_adjoint(const Value& a, const Value& b) {
  if (a.rows != b.columns || a.columns != b.rows || b.parts.size() != a.parts.size()) return false;
  for (int i = 0; i < b.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      const Component c = conjugate(a.parts[static_cast<std::size_t>(j * a.columns + i)]);
      const Component& own = b.parts[static_cast<std::size_t>(i * b.columns + j)];
      if (c.re != own.re || c.im != own.im) return false;
    }
  }
  return true;
}

}  // namespace

Value add(const Value& a, const Value& b) {
  if (of_spinors(a) || of_spinors(b)) return add_spinors(a, b, false);
  const Value sum = pointwise(a, b, "a sum needs two values of the same shape",
                              [](Component x, Component y) { return add(x, y); });
  return with_paths(with_gaps(sum, a, b, 1), a, b, 1);
}

Value subtract(const Value& a, const Value& b) {
  if (of_spinors(a) || of_spinors(b)) return add_spinors(a, b, true);
  const Value rest = pointwise(a, b, "a difference needs two values of the same shape",
                               [](Component x, Component y) { return subtract(x, y); });
  return with_paths(with_gaps(rest, a, b, -1), a, b, -1);
}

Value multiply(const Value& a, const Value& b) {
  if (a.path && b.path) return {a.rows, b.columns, a.parts, joined(a.path, b.path)};
  if (of_spinors(a) || of_spinors(b)) return multiply_spinors(a, b);
  if (a.rate && is_adjoint(a.rate->link, b)) return a.rate->turn;
  if (single(a)) {
    Value product = each(b, [&](Component y) { return multiply(a.parts[0], y); });
    if (a.links && b.links) {
      product.links = joined(a.links, b.links);
    } else {
      product = a.links || a.path ? with_scaled_paths(product, a, b, multiply)
                                  : with_scaled_paths(product, b, a, multiply);
    }
    return a.gap ? with_scaled_gap(product, a, b, multiply)
                 : with_scaled_gap(product, b, a, multiply);
  }
  if (single(b)) {
    const Value product = each(a, [&](Component x) { return multiply(x, b.parts[0]); });
    return with_scaled_paths(product, a, b, multiply);
  }
  if (a.columns != b.rows) {
    throw ShapeError("vectors are multiplied with `dot`, `cross` or `outer`");
  }
  Value result{a.rows, b.columns, {}};
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      Component sum = multiply(a.parts[i * a.columns], b.parts[j]);
      for (int k = 1; k < a.columns; ++k) {
        sum = add(sum, multiply(a.parts[i * a.columns + k], b.parts[k * b.columns + j]));
      }
      result.parts.push_back(sum);
    }
  }
  result.links = joined(a.links, b.links);
  return result;
}

Value divide(const Value& a, const Value& b) {
  if (!single(b) || of_spinors(b)) throw ShapeError("a vector does not divide");
  if (of_spinors(a)) {
    const Component one{b.parts[0].re->arena->integer(1), {}};
    return multiply_spinors({1, 1, {divide(one, b.parts[0])}}, a);
  }
  const Value quotient = each(a, [&](Component x) { return divide(x, b.parts[0]); });
  return with_scaled_gap(with_scaled_paths(quotient, a, b, divide), a, b, divide);
}

Value negate(const Value& a) {
  if (a.spinor || a.acts) {
    Arena& arena = a.acts ? *a.acts->terms[0].weight.re->arena : *a.parts[0].re->arena;
    return multiply_spinors(Value::of(arena.integer(-1)), a);
  }
  Value result = each(a, [](Component x) {
    return x.real() ? Component{-x.re, {}} : Component{-x.re, -x.im};
  });
  if (a.gap) result.gap = std::make_shared<const Gap>(Gap{-a.gap->most, -a.gap->gap});
  const Value minus_one = Value::of(a.parts[0].re->arena->integer(-1));
  result = with_scaled_paths(std::move(result), a, minus_one, multiply);
  return result;
}

Value power(const Value& a, const Value& b) {
  if (!single(a) || !single(b)) throw ShapeError("a power needs numbers, not vectors");
  const Component base = a.parts[0];
  const Component exponent = b.parts[0];
  if (!exponent.real()) throw ShapeError("a complex exponent is written with `exp`");
  if (base.real()) return Value::of(algebra::pow(base.re, exponent.re));
  const auto constant = algebra::constant(exponent.re);
  if (!constant || !constant->exact || constant->rational.den != 1) {
    throw ShapeError("a complex number takes integer powers only");
  }
  std::int64_t n = constant->rational.num;
  const Component factor = n < 0 ? divide({base.re->arena->integer(1), {}}, base) : base;
  n = std::abs(n);
  if (n > 64) throw ShapeError("a power of a complex number is at most 64");
  Component result{base.re->arena->integer(1), {}};
  for (std::int64_t i = 0; i < n; ++i) result = multiply(result, factor);
  return {1, 1, {result}};
}

Expr norm2(const Value& a) {
  if (a.rate) return norm2(a.rate->turn);
  Expr sum = norm2(a.parts[0]);
  for (std::size_t i = 1; i < a.parts.size(); ++i) sum = sum + norm2(a.parts[i]);
  return sum;
}

Expr decimal(Arena& arena, std::string_view text) {
  std::int64_t digits = 0;
  int used = 0;
  int exponent = 0;
  bool fits = true;
  std::size_t i = 0;
  bool fraction = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      if (used > 0 || c != '0') ++used;
      if (used > 18) {
        fits = false;
        break;
      }
      digits = digits * 10 + (c - '0');
      if (fraction) --exponent;
    } else {
      break;
    }
  }
  if (fits && i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    exponent += std::stoi(std::string(text.substr(i + 1)));
  }
  while (digits != 0 && digits % 10 == 0 && exponent < 0) {
    digits /= 10;
    ++exponent;
  }
  const auto power_of_ten = [](int n) {
    std::int64_t p = 1;
    for (int k = 0; k < n; ++k) p *= 10;
    return p;
  };
  if (fits && digits == 0) return arena.integer(0);
  if (fits && exponent <= 0 && exponent >= -18)
    return arena.rational(digits, power_of_ten(-exponent));
  if (fits && exponent > 0 && exponent <= 18 && digits <= INT64_MAX / power_of_ten(exponent)) {
    return arena.integer(digits * power_of_ten(exponent));
  }
  return arena.real(std::strtold(std::string(text).c_str(), nullptr));
}

namespace {

/// The fraction with a denominator up to 720 that equals x to 1e-17, by continued fractions.
bool nearby_fraction(long double x, std::int64_t& num, std::int64_t& den) {
  if (!(std::fabs(x) < 1e6L) || x == 0) return false;
  std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  long double rest = x;
  for (int i = 0; i < 12; ++i) {
    const long double whole = std::floor(rest);
    const auto n = static_cast<std::int64_t>(whole);
    const std::int64_t p2 = n * p1 + p0;
    const std::int64_t q2 = n * q1 + q0;
    if (q2 > 720) return false;
    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
    const long double value = static_cast<long double>(p1) / static_cast<long double>(q1);
    if (std::fabs(value - x) <= 1e-17L * std::fabs(x)) {
      num = p1, den = q1;
      return true;
    }
    if (rest == whole) return false;
    rest = 1 / (rest - whole);
    if (!(std::fabs(rest) < 1e6L)) return false;
  }
  return false;
}

}  // namespace

Expr snap_numbers(Expr expr) {
  return algebra::rewrite(expr, [](Expr e) {
    if (!e.is_number() || e->number.exact) return e;
    std::int64_t num = 0, den = 1;
    if (!nearby_fraction(e->number.real, num, den)) return e;
    return e->arena->rational(num, den);
  });
}

}  // namespace vphi::physics
