// The difference quotient of the text's side: f' of four values around a point.
#pragma once

namespace vphi::tools {

/// f' + O(h^4) of f at -2h, -h, h and 2h; numbers, real or complex.
template <class Value>
Value slope_of_four(const Value& far_below, const Value& below, const Value& above,
                    const Value& far_above, long double h) {
  return (8.0L * (above - below) - (far_above - far_below)) / (12 * h);
}

/// The same of a function of the distance, called at h, -h, 2h and -2h.
template <class Function>
auto slope_at_zero(long double h, const Function& f) {
  const auto above = f(h), below = f(-h), far_above = f(2 * h), far_below = f(-2 * h);
  return slope_of_four(far_below, below, above, far_above, h);
}

}  // namespace vphi::tools
