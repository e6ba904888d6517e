#include "compiler/algebra/rational.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace vphi::algebra {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::optional<std::int64_t> times(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r) || r == kLowest) return std::nullopt;
  return r;
}

std::optional<std::int64_t> plus(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r) || r == kLowest) return std::nullopt;
  return r;
}

Number reduced(std::int64_t num, std::int64_t den) {
  if (den < 0) {
    num = -num;
    den = -den;
  }
  const std::int64_t g = std::gcd(num, den);
  Number n;
  n.rational = {num / g, den / g};
  n.real = static_cast<long double>(n.rational.num) / n.rational.den;
  return n;
}

Number floating(long double value) {
  Number n;
  n.exact = false;
  n.real = value;
  return n;
}

/// The integer r with r^q = a, a >= 0.
std::optional<std::int64_t> root(std::int64_t a, std::int64_t q) {
  if (a < 2) return a;
  if (q > 62) return std::nullopt;
  const auto r =
      static_cast<std::int64_t>(std::roundl(std::pow(static_cast<long double>(a), 1.0L / q)));
  std::int64_t p = 1;
  for (std::int64_t i = 0; i < q; ++i) {
    const auto next = times(p, r);
    if (!next) return std::nullopt;
    p = *next;
  }
  return p == a ? std::optional(r) : std::nullopt;
}

std::optional<Number> integer_power(const Number& a, std::int64_t n) {
  if (n < 0) {
    if (a.real == 0) return std::nullopt;
    if (a.exact) return integer_power(reduced(a.rational.den, a.rational.num), -n);
    return inexact(std::pow(a.real, static_cast<long double>(n)));
  }
  if (!a.exact || n > 4096) return inexact(std::pow(a.real, static_cast<long double>(n)));
  Number result = exact(1);
  Number square = a;
  for (std::int64_t left = n; left > 0; left /= 2) {
    if (left % 2) result = multiply(result, square);
    if (left > 1) square = multiply(square, square);
  }
  // A chain of rounded products is less accurate than one call.
  return result.exact ? result : inexact(std::pow(a.real, static_cast<long double>(n)));
}

}  // namespace

Number exact(std::int64_t num, std::int64_t den) {
  if (num == kLowest || den == kLowest) {
    return floating(static_cast<long double>(num) / den);
  }
  return reduced(num, den);
}

Number inexact(long double value) {
  constexpr long double scale = 1048576.0L;  // 2^20
  if (std::fabs(value) < 1099511627776.0L && std::rint(value * scale) == value * scale) {
    return reduced(static_cast<std::int64_t>(value * scale), 1048576);
  }
  return floating(value);
}

Number add(const Number& a, const Number& b) {
  if (a.exact && b.exact) {
    // a.num/a.den + b.num/b.den over the least common denominator
    const std::int64_t g = std::gcd(a.rational.den, b.rational.den);
    const auto left = times(a.rational.num, b.rational.den / g);
    const auto right = times(b.rational.num, a.rational.den / g);
    const auto den = times(a.rational.den, b.rational.den / g);
    if (left && right && den) {
      if (const auto num = plus(*left, *right)) return reduced(*num, *den);
    }
  }
  return inexact(a.real + b.real);
}

Number multiply(const Number& a, const Number& b) {
  if (a.exact && b.exact) {
    if (a.rational.num == 0 || b.rational.num == 0) return exact(0);
    const std::int64_t g = std::gcd(a.rational.num, b.rational.den);
    const std::int64_t h = std::gcd(b.rational.num, a.rational.den);
    const auto num = times(a.rational.num / g, b.rational.num / h);
    const auto den = times(a.rational.den / h, b.rational.den / g);
    if (num && den) return reduced(*num, *den);
  }
  return inexact(a.real * b.real);
}

Number negate(const Number& a) {
  if (a.exact) return reduced(-a.rational.num, a.rational.den);
  return floating(-a.real);
}

std::optional<Number> power(const Number& a, const Number& b) {
  std::optional<Number> result;
  if (b.exact && b.rational.den == 1) {
    result = integer_power(a, b.rational.num);
  } else if (a.real == 0) {
    if (b.real > 0) result = exact(0);
  } else if (a.real > 0) {
    if (a.exact && b.exact) {
      const auto num = root(a.rational.num, b.rational.den);
      const auto den = root(a.rational.den, b.rational.den);
      if (num && den) return integer_power(exact(*num, *den), b.rational.num);
    }
    result = inexact(std::pow(a.real, b.real));
  }
  if (result && !std::isfinite(result->real)) return std::nullopt;
  return result;
}

int compare(const Number& a, const Number& b) {
  if (a.exact && b.exact) {
    const auto left = times(a.rational.num, b.rational.den);
    const auto right = times(b.rational.num, a.rational.den);
    if (left && right) return (*left > *right) - (*left < *right);
  }
  return (a.real > b.real) - (a.real < b.real);
}

bool same(const Number& a, const Number& b) {
  if (a.exact != b.exact) return false;
  if (a.exact) return a.rational == b.rational;
  return a.real == b.real || (std::isnan(a.real) && std::isnan(b.real));
}

bool is_integer(const Number& a) { return a.exact && a.rational.den == 1; }
bool is_even(const Number& a) { return is_integer(a) && a.rational.num % 2 == 0; }
bool is_value(const Number& a, std::int64_t value) {
  return is_integer(a) && a.rational.num == value;
}

}  // namespace vphi::algebra
