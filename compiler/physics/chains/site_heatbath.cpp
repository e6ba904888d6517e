// Heatbath of numbers, angles and vectors with a norm at sites.
#include <algorithm>
#include <array>
#include <numbers>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/arithmetic.hpp"
#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/site_change.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// exp(i u) with the weight exp(Re(exp(i u) V)): the heatbath of a link of U(1) between staples V.
gauge::Complex phase_drawn(Arena& arena, const gauge::Complex& now, const gauge::Complex& v,
                           int tries, Draws& draws) {
  const gauge::Group group{gauge::Kind::U1, 1};
  const gauge::Heatbath options{tries};
  return gauge::heatbath(group, {1, 1, {now}}, {1, 1, {v}}, arena.integer(1),
                         draws.uniforms(gauge::heatbath_draws(group, options)), options)
      .at(0, 0);
}

/// The cosine w between -h and a vector on the sphere with the weight exp(-h.n), k = |h||n|: of the
/// weight exp(k w) from -1 to 1, with r uniform,
///
///   w = 1 + ln(r + (1 - r) exp(-2 k))/k = ln(1 + y)/k,  y = 2 sinh(k/2)^2 + (2 r - 1) sinh k.
///
/// ln(1 + y) = 2 artanh(y/(2 + y)) keeps its digits where k is small.
Expr cosine_drawn(Expr k, Expr r) {
  Arena& arena = *k->arena;
  const Expr one = arena.integer(1), two = arena.integer(2), half = arena.rational(1, 2);
  const Expr least = arena.real(1e-30), bound = arena.integer(1);
  const Expr large = arena.make(Op::Max, {k, bound});
  const Expr far =
      one + arena.make(Op::Log, {r + (one - r) * arena.make(Op::Exp, {-(two * large)})}) / large;
  const Expr small = arena.make(Op::Max, {arena.make(Op::Min, {k, bound}), least});
  const Expr y = two * algebra::pow(arena.make(Op::Sinh, {half * small}), 2) +
                 (two * r - one) * arena.make(Op::Sinh, {small});
  const Expr near = two * arena.make(Op::Atanh, {y / (two + y)}) / small;
  const Expr w = arena.make(Op::Select, {arena.make(Op::Less, {bound, k}), far, near});
  return arena.make(Op::Max, {-one, arena.make(Op::Min, {w, one})});
}

/// Three components with the weight exp(-h.n) at the length that they have. The frame about h is
/// that of Duff et al., J. Comput. Graph. Tech. 6 (2017) 1.
std::array<Expr, 3> three_drawn(const std::array<Expr, 3>& n, const std::array<Expr, 3>& h,
                                Draws& draws) {
  Arena& arena = *n[0]->arena;
  const Expr zero = arena.integer(0), one = arena.integer(1), half = arena.rational(1, 2);
  const auto length = [&](const std::array<Expr, 3>& v) {
    return algebra::pow(algebra::pow(v[0], 2) + algebra::pow(v[1], 2) + algebra::pow(v[2], 2),
                        half);
  };
  const Expr radius = length(n), strength = length(h);
  const Expr none = arena.make(Op::LessEqual, {strength, arena.real(1e-30)});
  const auto along = [&](std::size_t i) {  // where no field is, any direction does
    const Expr e = -h[i] / arena.make(Op::Max, {strength, arena.real(1e-30)});
    return arena.make(Op::Select, {none, i == 2 ? one : zero, e});
  };
  const Expr x = along(0), y = along(1), z = along(2);
  const Expr w = cosine_drawn(radius * strength, draws.uniform());
  const Expr turn = arena.real(2 * std::numbers::pi_v<long double>) * draws.uniform();
  const Expr flat = algebra::pow(arena.make(Op::Max, {(one - w) * (one + w), zero}), half);
  const Expr c = flat * arena.make(Op::Cos, {turn}), s = flat * arena.make(Op::Sin, {turn});
  const Expr sign = arena.make(Op::Select, {arena.make(Op::Less, {z, zero}), -one, one});
  const Expr a = -one / (sign + z), b = x * y * a;
  return {radius * (w * x + c * (one + sign * x * x * a) + s * b),
          radius * (w * y + c * sign * b + s * (sign + y * y * a)),
          radius * (w * z - c * sign * x - s * y)};
}

}  // namespace

std::optional<std::vector<Expr>> SiteChange::drawn(int tries, Draws& draws, std::string& how,
                                                   std::string& why) const {
  if (breaks()) {
    why = "not smooth in the value at a site";
    return std::nullopt;
  }
  std::vector<Expr> n = present();
  if (period_ > 0) {
    const auto slopes = slopes_of_angle(why);
    if (!slopes) return std::nullopt;
    // S = A cos u + B sin u + const: S''(0) = -A, S'(0) = B
    const auto at_zero = [&](Expr e) {
      return algebra::rewrite(e,
                              [&](Expr node) { return node == n[0] ? arena_.integer(0) : node; });
    };
    const gauge::Complex v{at_zero(slopes->second), at_zero(slopes->first)};
    const gauge::Complex now{arena_.make(Op::Cos, {n[0]}), arena_.make(Op::Sin, {n[0]})};
    const gauge::Complex drawn = phase_drawn(arena_, now, v, tries, draws);
    how = "the angle is drawn about the local field (von Mises)";
    return std::vector<Expr>{in_period(arena_.make(Op::Atan2, {drawn.im, drawn.re}))};
  }
  if (field_.length) {
    if (n.size() < 2) {
      why = "of one component with a norm";
      return std::nullopt;
    }
    const auto h = field_at_vector(why);
    if (!h) return std::nullopt;
    if (n.size() == 2) {
      const Expr length = field_.length;
      const gauge::Complex v{-(length * (*h)[0]), length * (*h)[1]};
      const gauge::Complex drawn =
          phase_drawn(arena_, {n[0] / length, n[1] / length}, v, tries, draws);
      how = "the vector is drawn about the local field (von Mises)";
      return with_norm({drawn.re, drawn.im});
    }
    for (std::size_t first = 0; first + 2 < n.size();) {
      const std::array<Expr, 3> drawn =
          three_drawn({n[first], n[first + 1], n[first + 2]},
                      {(*h)[first], (*h)[first + 1], (*h)[first + 2]}, draws);
      for (std::size_t i = 0; i < 3; ++i) n[first + i] = drawn[i];
      if (first + 3 == n.size()) break;
      first = std::min(first + 2, n.size() - 3);
    }
    how = n.size() == 3 ? "the vector is drawn about the local field"
                        : "three components after three are drawn about the local field";
    return with_norm(std::move(n));
  }
  const auto square = quadratic(why);
  if (!square) return std::nullopt;
  // of swept values, stored coefficients and other fields it is known in the run alone
  const auto curvature = algebra::constant(square->curvature);
  if (curvature && !(curvature->real > 0)) {
    why = "not bounded below: S'' is not positive";
    return std::nullopt;
  }
  const std::vector<Expr> normal = draws.normals(static_cast<int>(n.size()));
  const Expr width = algebra::pow(square->curvature, arena_.rational(-1, 2));
  for (std::size_t i = 0; i < n.size(); ++i)
    n[i] = n[i] - square->slope[i] / square->curvature + width * normal[i];
  how = "a normal number about the most likely value";
  return n;
}

}  // namespace vphi::physics
