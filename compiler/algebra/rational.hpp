// Arithmetic of Numbers: exact rationals as long as numerator and denominator fit into 63 bits,
// then floating point with a 64-bit mantissa. An overflow makes the result inexact; nothing wraps
// around and nothing throws. A result that is not a finite real number is `nullopt`, so that the
// expression is not changed.
#pragma once

#include <optional>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

/// num/den reduced; den must not be 0.
Number exact(std::int64_t num, std::int64_t den = 1);
/// A long double; exact where it is a dyadic fraction with at most 20 binary places.
Number inexact(long double value);

Number add(const Number& a, const Number& b);
Number multiply(const Number& a, const Number& b);
Number negate(const Number& a);
/// a^b: exact roots and integer powers stay exact.
std::optional<Number> power(const Number& a, const Number& b);
/// -1, 0 or 1.
int compare(const Number& a, const Number& b);

bool same(const Number& a, const Number& b);
bool is_integer(const Number& a);
/// Whether it is an even integer.
bool is_even(const Number& a);
bool is_value(const Number& a, std::int64_t value);

}  // namespace vphi::algebra
