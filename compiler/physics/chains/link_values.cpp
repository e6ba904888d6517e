#include "compiler/physics/chains/link_values.hpp"

#include <cmath>
#include <numbers>

#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/site_values.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;

/// Angles, cosines and sines of the roots.
struct Roots {
  std::vector<Expr> angle, re, im;
};

Roots all_roots(Arena& arena, int roots) {
  Roots all;
  for (int n = 0; n < roots; ++n) {
    // exact where a quarter of a turn is a root
    const bool quarter = 4 * n % roots == 0;
    const long double at = kTurn * n / roots;
    const auto number = [&](long double x) {
      return quarter ? arena.integer(std::llround(x)) : arena.real(x);
    };
    all.angle.push_back(n == 0 ? arena.integer(0) : arena.real(at));
    all.re.push_back(number(std::cos(at)));
    all.im.push_back(number(std::sin(at)));
  }
  return all;
}

gauge::Matrix phase_of(Expr re, Expr im) { return {1, 1, {{re, im}}}; }

}  // namespace

Expr root_by_weight(Arena& arena, int roots, const gauge::Matrix& staples, Draws& draws) {
  const Roots all = all_roots(arena, roots);
  const auto& v = staples.at(0, 0);
  std::vector<Expr> actions;
  for (std::size_t n = 0; n < all.angle.size(); ++n)
    actions.push_back(all.im[n] * v.im - all.re[n] * v.re);
  return drawn_by_weight(actions, all.angle, draws.uniform());
}

Expr root_by_proposals(int roots, const gauge::Matrix& u, Expr angle, std::int64_t hits,
                       const LinkIncrease& increase, Draws& draws, Expr& accepted) {
  Arena& arena = *angle->arena;
  const Roots turn = all_roots(arena, roots);
  std::vector<Expr> turns;
  for (int n = 0; n < roots; ++n) turns.push_back(arena.integer(n));
  const Expr all = arena.integer(roots), unit = arena.real(kTurn / roots);
  gauge::Matrix now = u;
  Expr number = arena.make(Op::Floor, {angle * arena.real(roots / kTurn) + arena.rational(1, 2)});
  for (std::int64_t hit = 0; hit < hits; ++hit) {
    const Expr which = draws.uniform();
    const gauge::Matrix proposed =
        gauge::times(phase_of(chosen(turn.re, which), chosen(turn.im, which)), now);
    const Expr further = number + chosen(turns, which);
    const Expr turned =
        arena.make(Op::Select, {arena.make(Op::Less, {further, all}), further, further - all});
    const Expr takes = gauge::metropolis_takes(increase(now, proposed), draws.uniform());
    now = {1,
           1,
           {{gauge::select(takes, proposed.at(0, 0).re, now.at(0, 0).re),
             gauge::select(takes, proposed.at(0, 0).im, now.at(0, 0).im)}}};
    number = gauge::select(takes, turned, number);
    accepted = accepted + arena.make(Op::Select, {takes, arena.integer(1), arena.integer(0)});
  }
  return number * unit;
}

Expr root_mirrored(int roots, const gauge::Matrix& u, Expr angle, const gauge::Matrix& staples,
                   Draws& draws) {
  Arena& arena = *angle->arena;
  const Expr all = arena.integer(roots), half = arena.rational(1, 2);
  const Expr unit = arena.real(kTurn / roots), per_angle = arena.real(roots / kTurn);
  const auto& v = staples.at(0, 0);
  const Expr number = arena.make(Op::Floor, {angle * per_angle + half});
  // Re(U V) is largest at the angle -arg(V); the mirror of exp(i t) at the angle h is exp(i (2 h -
  // t))
  const Expr twice = arena.make(
      Op::Floor, {half - arena.make(Op::Atan2, {v.im, v.re}) * (arena.integer(2) * per_angle)});
  const Expr apart = twice - number;
  const Expr image = apart - all * arena.make(Op::Floor, {(apart + half) / all});
  const Expr turned = image * unit;
  const gauge::Matrix mirror =
      phase_of(arena.make(Op::Cos, {turned}), arena.make(Op::Sin, {turned}));
  const Expr increase = gauge::trace_of_product(gauge::minus(u, mirror), staples).re;
  const Expr takes = gauge::metropolis_takes(increase, draws.uniform());
  return gauge::select(takes, image, number) * unit;
}

gauge::Matrix any_root(Arena& arena, int roots, Expr uniform) {
  const Roots all = all_roots(arena, roots);
  return phase_of(chosen(all.re, uniform), chosen(all.im, uniform));
}

}  // namespace vphi::physics
