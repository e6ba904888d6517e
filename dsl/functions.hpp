// Values of the functions in functions.def, for any floating-point type.
#pragma once

#include <cmath>
#include <concepts>

namespace vphi::dsl {

template <std::floating_point Real>
Real sign_of(Real x) {
  return static_cast<Real>((x > 0) - (x < 0));
}

// ---- functions in the formulas of VPHI_COMPOSED
/// An integer in the type of `x`.
template <std::floating_point Real>
Real like(Real /*x*/, int number) {
  return static_cast<Real>(number);
}
template <std::floating_point Real>
Real cosh_of(Real x) {
  return std::cosh(x);
}
template <std::floating_point Real>
Real floor_of(Real x) {
  return std::floor(x);
}
/// The cube root, also of negative numbers.
template <std::floating_point Real>
Real cube_root_of(Real x) {
  return std::cbrt(x);
}
template <std::floating_point Real>
Real log_to_base(Real x, int base) {
  return base == 2 ? std::log2(x) : base == 10 ? std::log10(x) : std::log(x) / std::log(Real(base));
}
template <std::floating_point Real>
Real min_of(Real x, Real y) {
  return std::fmin(x, y);
}
template <std::floating_point Real>
Real max_of(Real x, Real y) {
  return std::fmax(x, y);
}

}  // namespace vphi::dsl
