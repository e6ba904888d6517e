#include "compiler/gauge/heatbath.hpp"

#include <cassert>
#include <numbers>

#include "compiler/gauge/products.hpp"

namespace vphi::gauge {

using algebra::Op;

namespace {

constexpr long double kTwoPi = 2 * std::numbers::pi_v<long double>;
/// Below it k^2 counts as 0: every element is as likely, and no direction is left to divide by.
constexpr long double kNothing = 1e-30L;

struct Quaternion {
  Expr a0, a1, a2, a3;
};

Quaternion scaled(Expr factor, const Quaternion& q) {
  return {times(factor, q.a0), times(factor, q.a1), times(factor, q.a2), times(factor, q.a3)};
}
Quaternion conjugate(const Quaternion& q) {
  return {q.a0, negative(q.a1), negative(q.a2), negative(q.a3)};
}
Expr norm2(const Quaternion& q) {
  return plus(plus(square(q.a0), square(q.a1)), plus(square(q.a2), square(q.a3)));
}

/// a b of a0 + i a.sigma: the vector part is a0 b + b0 a - a x b.
Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {
      minus(times(a.a0, b.a0), plus(plus(times(a.a1, b.a1), times(a.a2, b.a2)), times(a.a3, b.a3))),
      plus(plus(times(a.a0, b.a1), times(a.a1, b.a0)), minus(times(a.a3, b.a2), times(a.a2, b.a3))),
      plus(plus(times(a.a0, b.a2), times(a.a2, b.a0)), minus(times(a.a1, b.a3), times(a.a3, b.a1))),
      plus(plus(times(a.a0, b.a3), times(a.a3, b.a0)),
           minus(times(a.a2, b.a1), times(a.a1, b.a2)))};
}

/// The part of a block that is a multiple of a matrix of SU(2).
Quaternion block(const Matrix& w, int p, int q) {
  const Expr half = w.at(0, 0).re->arena->rational(1, 2);
  const auto mean = [&](Expr sum) { return times(half, sum); };
  return {mean(plus(w.at(p, p).re, w.at(q, q).re)), mean(plus(w.at(p, q).im, w.at(q, p).im)),
          mean(minus(w.at(p, q).re, w.at(q, p).re)), mean(minus(w.at(p, p).im, w.at(q, q).im))};
}

/// g on rows p and q.
Matrix on_rows(const Quaternion& g, const Matrix& u, int p, int q) {
  const Complex diagonal{g.a0, g.a3}, upper{g.a2, g.a1};
  Matrix result = u;
  for (int j = 0; j < u.columns; ++j) {
    const Complex a = u.at(p, j), b = u.at(q, j);
    result.at(p, j) = plus_product(times(diagonal, a), upper, b, u.columns);
    result.at(q, j) =
        plus_product(times(conjugate(diagonal), b), negative(conjugate(upper)), a, u.columns);
  }
  return result;
}

Expr either(Expr condition, Expr a, Expr b) { return a == b ? a : select(condition, a, b); }

Quaternion either(Expr condition, const Quaternion& a, const Quaternion& b) {
  return {either(condition, a.a0, b.a0), either(condition, a.a1, b.a1),
          either(condition, a.a2, b.a2), either(condition, a.a3, b.a3)};
}

/// Each SU(2) subgroup in turn: `element` gives g for the quaternion of a block.
template <class Element>
Matrix hit_subgroups(const Matrix& u, const Matrix& staples, Element element) {
  Matrix link = u, w = times(u, staples);
  for (int q = 1; q < u.rows; ++q) {
    for (int p = 0; p < q; ++p) {
      const Quaternion g = element(block(w, p, q));
      link = on_rows(g, link, p, q);
      w = on_rows(g, w, p, q);
    }
  }
  return link;
}

class Draws {
 public:
  explicit Draws(std::span<const Expr> numbers) : numbers_(numbers) {}
  Expr next() { return numbers_[used_++]; }
  bool all_used() const { return used_ == numbers_.size(); }

 private:
  std::span<const Expr> numbers_;
  std::size_t used_ = 0;
};

/// x0 and whether it was found.
struct Found {
  Expr value, done;
};

/// The first of the proposals that is accepted.
template <class Propose>
Found first_accepted(int proposals, Propose propose) {
  Found found;
  for (int i = 0; i < proposals; ++i) {
    const auto [value, accepted] = propose();
    if (i == 0) {
      found = {value, accepted};
    } else {
      found = {select(found.done, found.value, value), apply(Op::Or, found.done, accepted)};
    }
  }
  return found;
}

/// x0 with the weight sqrt(1 - x0^2) exp(alpha x0).
class Su2Proposals {
 public:
  /// `inverse` is 1/alpha.
  Su2Proposals(const Heatbath& options, Expr alpha, Expr inverse)
      : options_(options), alpha_(alpha), inverse_(inverse) {
    Arena& arena = *alpha->arena;
    one_ = arena.integer(1);
    if (options.proposal == Proposal::KennedyPendleton) return;
    // 1 - exp(-2 alpha) loses its bits where alpha is small: there the proposal is that of a larger
    // one, and what it has too much is taken off when it is accepted.
    bounded_ = apply(Op::Max, alpha, arena.rational(1, 16));
    excess_ = minus(bounded_, alpha);
    lowest_ = apply(Op::Exp, negative(times(arena.integer(2), bounded_)));
    small_ = apply(Op::Less, alpha, arena.rational(5, 3));  // both have the same acceptance here
  }

  static int draws(Proposal proposal) { return proposal == Proposal::Creutz ? 2 : 4; }

  Found propose(Draws& draws) {
    const Expr r1 = draws.next(), accept = draws.next();
    const Expr bound = square(accept);
    if (options_.proposal == Proposal::Creutz) return creutz(apply(Op::Log, raised(r1)), bound);
    const Expr r2 = draws.next(), r3 = draws.next();
    if (options_.proposal == Proposal::KennedyPendleton)
      return kennedy_pendleton(apply(Op::Log, r1), r2, r3, bound);
    const Expr log = apply(Op::Log, select(small_, raised(r1), r1));
    const Found a = creutz(log, bound), b = kennedy_pendleton(log, r2, r3, bound);
    return {select(small_, a.value, b.value), select(small_, a.done, b.done)};
  }

 private:
  /// d = -(ln r1 cos^2(2 pi r2) + ln r3)/alpha has the density sqrt(d) exp(-alpha d); x0 = 1 - d
  /// lacks sqrt(1 - d/2).
  Found kennedy_pendleton(Expr log1, Expr r2, Expr r3, Expr bound) const {
    Arena& arena = *alpha_->arena;
    const Expr cosine = apply(Op::Cos, times(arena.real(kTwoPi), r2));
    const Expr sum = plus(times(log1, square(cosine)), apply(Op::Log, r3));
    const Expr d = negative(times(sum, inverse_));
    const Expr accepted = apply(Op::LessEqual, bound, minus(one_, times(arena.rational(1, 2), d)));
    return {minus(one_, d), accepted};
  }

  /// Uniform between exp(-2 alpha) and 1: exp(alpha (x0 - 1)).
  Expr raised(Expr r) const { return plus(r, times(minus(one_, r), lowest_)); }

  /// x0 = 1 - d has the density exp(alpha x0) and lacks sqrt(1 - x0^2) = sqrt(d (2 - d)).
  Found creutz(Expr log, Expr bound) const {
    Arena& arena = *alpha_->arena;
    const Expr two = arena.integer(2);
    const Expr d = negative(over(log, bounded_)), up = minus(two, d);  // up = 1 + x0
    const Expr share = apply(Op::Exp, negative(times(times(two, excess_), up)));
    const Expr accepted = apply(Op::LessEqual, bound, times(times(d, up), share));
    return {minus(one_, d), accepted};
  }

  const Heatbath& options_;
  Expr alpha_, inverse_, one_, bounded_, excess_, lowest_, small_;
};

/// x0 and a direction that is uniform on the sphere.
Quaternion with_direction(Expr x0, Expr r1, Expr r2) {
  Arena& arena = *x0->arena;
  const Expr none = arena.integer(0), one = arena.integer(1);
  const auto cathetus = [&](Expr x) {
    return root(apply(Op::Max, times(minus(one, x), plus(one, x)), none));
  };
  const Expr length = cathetus(x0);
  const Expr z = minus(times(arena.integer(2), r1), one);
  const Expr flat = times(length, cathetus(z));
  const Expr angle = times(arena.real(kTwoPi), r2);
  return {x0, times(flat, apply(Op::Cos, angle)), times(flat, apply(Op::Sin, angle)),
          times(length, z)};
}

Matrix heatbath_u1(const Matrix& u, const Matrix& staple, Expr strength, Draws& draws,
                   int proposals) {
  Arena& arena = *strength->arena;
  const Expr none = arena.integer(0), one = arena.integer(1), two = arena.integer(2);
  const Complex v = staple.at(0, 0);
  const Expr size2 = norm2(v);
  const Expr size = root(apply(Op::Max, size2, arena.real(kNothing)));
  const Complex direction = conjugate(times(over(one, size), v));
  // Best and Fisher: f = cos(angle) of a wrapped Cauchy distribution, in a form that stays finite
  // as kappa vanishes: rho = 2 kappa/(tau + sqrt(2 tau)), kappa r = (1 + rho^2)(tau + sqrt(2
  // tau))/4, f = (2 rho + (1 + rho^2) z)/(1 + rho^2 + 2 rho z) with z = cos(2 pi r1). The angle is
  // to the left where r1 < 1/2, by which z does not change.
  const Expr kappa = times(strength, size);
  const Expr tau = plus(one, root(plus(one, times(arena.integer(4), square(kappa)))));
  const Expr sum = plus(tau, root(times(two, tau)));
  const Expr rho = over(times(two, kappa), sum);
  const Expr rho2 = plus(one, square(rho)), twice = times(two, rho);
  const Expr kappa_r = times(times(arena.rational(1, 4), rho2), sum);
  Expr turn, taken;  // r1 of the first accepted proposal
  const Found found = first_accepted(proposals, [&]() -> Found {
    const Expr r = draws.next();
    turn = turn ? select(taken, turn, r) : r;
    const Expr z = apply(Op::Cos, times(arena.real(kTwoPi), r));
    const Expr f = over(plus(twice, times(rho2, z)), plus(rho2, times(twice, z)));
    const Expr c = minus(kappa_r, times(kappa, f));
    // accepted where u <= c exp(1 - c)
    const Expr accepted =
        apply(Op::LessEqual, draws.next(), times(c, apply(Op::Exp, minus(one, c))));
    taken = taken ? apply(Op::Or, taken, accepted) : accepted;
    return {f, accepted};
  });
  const Expr cosine = apply(Op::Max, arena.integer(-1), apply(Op::Min, found.value, one));
  const Expr sine = root(apply(Op::Max, times(minus(one, cosine), plus(one, cosine)), none));
  const Expr left = apply(Op::Less, turn, arena.rational(1, 2));
  const Complex rotated = times(Complex{cosine, select(left, negative(sine), sine)}, direction);
  const Expr somewhere = apply(Op::Less, arena.real(kNothing), size2);
  // with no staple every angle is as likely: the first proposal is uniform, about any direction
  const Complex fresh{select(somewhere, rotated.re, cosine),
                      select(somewhere, rotated.im, select(left, negative(sine), sine))};
  const Complex old = u.at(0, 0);
  return {1, 1, {{select(found.done, fresh.re, old.re), select(found.done, fresh.im, old.im)}}};
}

int subgroups(const Group& group) { return group.n * (group.n - 1) / 2; }

}  // namespace

int heatbath_draws(const Group& group, const Heatbath& options) {
  if (group.kind == Kind::U1) return 2 * options.proposals;
  return subgroups(group) * (Su2Proposals::draws(options.proposal) * options.proposals + 2);
}

Matrix heatbath(const Group& group, const Matrix& u, const Matrix& staples, Expr strength,
                std::span<const Expr> uniforms, const Heatbath& options) {
  assert(static_cast<int>(uniforms.size()) == heatbath_draws(group, options));
  Draws draws(uniforms);
  Arena& arena = *strength->arena;
  if (group.kind == Kind::U1) return heatbath_u1(u, staples, strength, draws, options.proposals);
  const Expr none = arena.integer(0), one = arena.integer(1);
  return hit_subgroups(u, staples, [&](const Quaternion& w) {
    const Expr k2 = apply(Op::Max, norm2(w), arena.real(kNothing));
    const Expr k = root(k2), inverse = over(one, k), twice = times(arena.integer(2), strength);
    Su2Proposals proposals(options, times(twice, k), times(over(one, twice), inverse));
    const Found found = first_accepted(options.proposals, [&] { return proposals.propose(draws); });
    const Expr r1 = draws.next(), r2 = draws.next();
    const Quaternion x = with_direction(found.value, r1, r2);
    const Quaternion g = product(x, scaled(inverse, conjugate(w)));
    return either(found.done, g, {one, none, none, none});
  });
}

Matrix overrelaxed(const Group& group, const Matrix& u, const Matrix& staples) {
  Arena& arena = *u.at(0, 0).re->arena;
  const Expr none = arena.integer(0), one = arena.integer(1), nothing = arena.real(kNothing);
  if (group.kind == Kind::U1) {
    // conj(U V)/|V|^2 conj(V): Re(U V) stays, Im(U V) changes sign
    const Complex v = staples.at(0, 0), w = times(u.at(0, 0), v);
    const Expr k2 = norm2(v);
    const Complex rotated = times(over(one, apply(Op::Max, k2, nothing)), conjugate(times(w, v)));
    const Expr somewhere = apply(Op::Less, nothing, k2);
    const Complex old = u.at(0, 0);
    return {1, 1, {{select(somewhere, rotated.re, old.re), select(somewhere, rotated.im, old.im)}}};
  }
  return hit_subgroups(u, staples, [&](const Quaternion& w) {
    // (conj(w)/k)^2
    const Expr vector2 = plus(plus(square(w.a1), square(w.a2)), square(w.a3));
    const Expr k2 = plus(square(w.a0), vector2);
    const Expr inverse = over(one, apply(Op::Max, k2, nothing));
    const Expr factor = negative(times(times(arena.integer(2), inverse), w.a0));
    const Quaternion g{times(inverse, minus(square(w.a0), vector2)), times(factor, w.a1),
                       times(factor, w.a2), times(factor, w.a3)};
    return either(apply(Op::Less, nothing, k2), g, {one, none, none, none});
  });
}

Matrix relaxed(const Group& group, const Matrix& u, const Matrix& staples, Expr omega) {
  Arena& arena = *omega->arena;
  const Expr none = arena.integer(0), one = arena.integer(1), nothing = arena.real(kNothing);
  const Expr rest = minus(one, omega);
  if (group.kind == Kind::U1) {
    const Complex w = times(u.at(0, 0), staples.at(0, 0));
    const Expr k2 = norm2(w);
    const Expr scale = over(omega, root(apply(Op::Max, k2, nothing)));
    const Complex power = plus(Complex{rest, none}, times(scale, conjugate(w)));
    const Complex g = times(over(one, root(norm2(power))), power);
    const Expr somewhere = apply(Op::Less, nothing, k2);
    return {
        1, 1, {times({select(somewhere, g.re, one), select(somewhere, g.im, none)}, u.at(0, 0))}};
  }
  return hit_subgroups(u, staples, [&](const Quaternion& w) {
    const Expr k2 = norm2(w);
    const Quaternion r = scaled(over(omega, root(apply(Op::Max, k2, nothing))), conjugate(w));
    const Quaternion power{plus(rest, r.a0), r.a1, r.a2, r.a3};
    const Quaternion g = scaled(over(one, root(norm2(power))), power);
    return either(apply(Op::Less, nothing, k2), g, {one, none, none, none});
  });
}

Expr metropolis_takes(Expr increase, Expr uniform) {
  return apply(Op::LessEqual, uniform, apply(Op::Exp, negative(increase)));
}

Matrix metropolis(const Matrix& u, const Matrix& proposed, Expr increase, Expr uniform) {
  const Expr accepted = metropolis_takes(increase, uniform);
  Matrix result{u.rows, u.columns, {}};
  for (std::size_t i = 0; i < u.parts.size(); ++i) {
    result.parts.push_back({select(accepted, proposed.parts[i].re, u.parts[i].re),
                            select(accepted, proposed.parts[i].im, u.parts[i].im)});
  }
  return result;
}

}  // namespace vphi::gauge
