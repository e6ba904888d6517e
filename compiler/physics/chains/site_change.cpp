#include "compiler/physics/chains/site_change.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/arithmetic.hpp"
#include "compiler/gauge/heatbath.hpp"
#include "compiler/physics/chains/site_values.hpp"

namespace vphi::physics {

using algebra::Op;

SiteChange::SiteChange(Arena& arena, const StateField& field, Expr here, double period)
    : arena_(arena), field_(field), here_(here), period_(period) {
  if (field.arrays.size() != 1) return;
  if (auto powers = algebra::polynomial(here, arena.load(field.arrays[0]))) powers_ = *powers;
}

std::vector<Expr> SiteChange::present() const {
  std::vector<Expr> values;
  for (const int array : field_.arrays) values.push_back(arena_.load(array));
  return values;
}

Expr SiteChange::in_period(Expr value) const {
  if (period_ == 0) return value;
  const Expr period = arena_.real(period_);
  return value - period * arena_.make(Op::Floor, {value / period});
}

std::vector<Expr> SiteChange::proposed(const std::vector<Expr>& now, Expr width,
                                       Draws& draws) const {
  if (!field_.values.empty()) {
    std::vector<Expr> others;  // without the present one, in ascending order
    for (std::size_t k = 0; k + 1 < field_.values.size(); ++k) {
      const Expr below = arena_.integer(field_.values[k]);
      others.push_back(arena_.make(Op::Select, {arena_.make(Op::Less, {below, now[0]}), below,
                                                arena_.integer(field_.values[k + 1])}));
    }
    return {others.size() == 1 ? others[0] : chosen(others, draws.uniform())};
  }
  const std::vector<Expr> normal = draws.normals(static_cast<int>(now.size()));
  std::vector<Expr> result;
  for (std::size_t i = 0; i < now.size(); ++i)
    result.push_back(in_period(now[i] + width * normal[i]));
  return with_norm(std::move(result));
}

std::vector<Expr> SiteChange::with_norm(std::vector<Expr> values) const {
  if (!field_.length) return values;
  Expr square = arena_.integer(0);
  for (const Expr v : values) square = square + algebra::pow(v, 2);
  const Expr scale = field_.length * algebra::pow(square, arena_.rational(-1, 2));
  for (Expr& v : values) v = v * scale;
  return values;
}

Expr SiteChange::heatbath(Draws& draws) const {
  const Expr uniform = draws.uniform();
  std::vector<Expr> actions, values;
  for (const std::int64_t v : field_.values) {
    values.push_back(arena_.integer(v));
    actions.push_back(level(values.back()));
  }
  return drawn_by_weight(actions, values, uniform);
}

Expr SiteChange::reordered(Draws& draws) const {
  const Expr zero = arena_.integer(0), one = arena_.integer(1), now = present()[0];
  const auto both = [&](Expr a, Expr b) { return arena_.make(Op::And, {a, b}); };
  const auto either = [&](Expr a, Expr b) { return arena_.make(Op::Or, {a, b}); };
  const auto choose = [&](Expr c, Expr a, Expr b) { return arena_.make(Op::Select, {c, a, b}); };
  const auto less = [&](Expr a, Expr b) { return arena_.make(Op::Less, {a, b}); };
  const auto same = [&](Expr a, Expr b) { return arena_.make(Op::Equal, {a, b}); };
  struct Place {
    Expr value, level, found;
  };
  std::vector<Place> all;
  for (const std::int64_t v : field_.values)
    all.push_back({arena_.integer(v), level(arena_.integer(v)), one});
  Expr here = all.back().level;  // the same number from both sides
  for (std::size_t k = all.size() - 1; k-- > 0;)
    here = choose(same(now, all[k].value), all[k].level, here);
  Place before{now, here, zero}, after = before;
  Expr rank = zero;
  for (const Place& p : all) {
    const Expr tie = same(p.level, here);
    const Expr below = either(less(p.level, here), both(tie, less(p.value, now)));
    const Expr above = either(less(here, p.level), both(tie, less(now, p.value)));
    rank = rank + choose(below, one, zero);
    const auto take = [&](Place& place, Expr side, Expr closer) {
      const Expr takes = both(side, either(same(place.found, zero), closer));
      place = {choose(takes, p.value, place.value), choose(takes, p.level, place.level),
               choose(takes, one, place.found)};
    };
    take(before, below, arena_.make(Op::LessEqual, {before.level, p.level}));
    take(after, above, less(p.level, after.level));
  }
  Expr first = rank;  // of a pair where it is even
  if (all.size() > 2)
    first = rank + choose(less(draws.uniform(), arena_.rational(1, 2)), one, zero);
  const Expr half = first / arena_.integer(2);
  const Expr up = same(half, arena_.make(Op::Floor, {half}));
  const auto other = [&](Expr Place::*part) { return choose(up, after.*part, before.*part); };
  const Expr takes = gauge::metropolis_takes(other(&Place::level) - here, draws.uniform());
  return choose(takes, other(&Place::value), now);
}

/// With S_k that of the k-th value and t = u sum exp(least - S_k): the first k at which the sum
/// over the values up to it exceeds t. For two values, u (1 + exp(S_0 - S_1)) < 1.
Expr drawn_by_weight(const std::vector<Expr>& actions, const std::vector<Expr>& values,
                     Expr uniform) {
  Arena& arena = *uniform->arena;
  const auto less = [&](Expr a, Expr b) { return arena.make(Op::Less, {a, b}); };
  if (actions.size() == 2) {
    const Expr change = actions[0] - actions[1];
    const Expr first =
        less(uniform * (arena.integer(1) + arena.make(Op::Exp, {change})), arena.integer(1));
    return arena.make(Op::Select, {first, values[0], values[1]});
  }
  Expr least = actions[0];
  for (std::size_t k = 1; k < actions.size(); ++k) least = arena.make(Op::Min, {least, actions[k]});
  std::vector<Expr> sums;
  for (const Expr s : actions) {
    const Expr weight = arena.make(Op::Exp, {least - s});
    sums.push_back(sums.empty() ? weight : gauge::plus(sums.back(), weight));
  }
  const Expr at = uniform * sums.back();
  Expr result = values.back();
  for (std::size_t k = actions.size() - 1; k-- > 0;)
    result = arena.make(Op::Select, {less(at, sums[k]), values[k], result});
  return result;
}

Expr SiteChange::at(const std::vector<Expr>& values) const {
  return algebra::rewrite(here_, [&](Expr node) {
    if (!node.is(Op::Load) || !node->offset.zero()) return node;
    const int place = field_.place(node->index);
    return place < 0 ? node : values[static_cast<std::size_t>(place)];
  });
}

Expr SiteChange::increase(const std::vector<Expr>& before, const std::vector<Expr>& after) const {
  if (powers_.empty()) return at(after) - at(before);
  Expr sum = arena_.integer(0);
  for (std::size_t n = 1; n < powers_.size(); ++n) {
    const int power = static_cast<int>(n);
    sum = sum + powers_[n] * (algebra::pow(after[0], power) - algebra::pow(before[0], power));
  }
  return sum;
}

Expr SiteChange::level(Expr value) const {
  if (powers_.empty()) return at({value});
  Expr sum = arena_.integer(0);
  for (std::size_t n = 1; n < powers_.size(); ++n)
    sum = sum + powers_[n] * algebra::pow(value, static_cast<int>(n));
  return sum;
}

bool SiteChange::breaks() const {
  static constexpr Op kBroken[] = {Op::Less,   Op::LessEqual, Op::Equal, Op::Floor,
                                   Op::Select, Op::Min,       Op::Max,   Op::Abs};
  const auto own = [&](Expr node) {
    return node.is(Op::Load) && node->offset.zero() && field_.place(node->index) >= 0;
  };
  return algebra::contains(here_, [&](Expr node) {
    return std::ranges::find(kBroken, node.op()) != std::end(kBroken) &&
           algebra::contains(node, own);
  });
}

std::optional<std::pair<Expr, Expr>> SiteChange::slopes_of_angle(std::string& why) const {
  const Expr u = arena_.load(field_.arrays[0]);
  const Expr first = algebra::derivative(here_, u), second = algebra::derivative(first, u);
  if (!algebra::expand(first + algebra::derivative(second, u)).is_zero()) {
    why = "not one cosine and one sine of the angle, with factors that do not depend on it";
    return std::nullopt;
  }
  return std::pair(first, second);
}

std::optional<std::vector<Expr>> SiteChange::mirrored_angle(std::string& how,
                                                            std::string& why) const {
  const auto slopes = slopes_of_angle(why);
  if (!slopes) return std::nullopt;
  // S = R cos(u - c) + const: S' = -R sin(u - c), S'' = -R cos(u - c)
  how = "the angle is mirrored about the local field";
  const Expr away = arena_.make(Op::Atan2, {-slopes->first, -slopes->second});
  return std::vector<Expr>{in_period(arena_.load(field_.arrays[0]) - arena_.integer(2) * away)};
}

std::optional<std::vector<Expr>> SiteChange::field_at_vector(std::string& why) const {
  const std::vector<Expr> n = present();
  std::vector<Expr> h;
  for (const Expr part : n) {
    const Expr slope = algebra::expand(algebra::derivative(here_, part));
    for (const Expr other : n) {
      if (!algebra::depends_on(slope, other)) continue;
      why = "not linear in the vector at a site";
      return std::nullopt;
    }
    h.push_back(slope);
  }
  return h;
}

std::optional<std::vector<Expr>> SiteChange::mirrored_vector(std::string& how,
                                                             std::string& why) const {
  const std::vector<Expr> n = present();
  const auto h = field_at_vector(why);
  if (!h) return std::nullopt;
  Expr along = arena_.integer(0), square = arena_.integer(0);
  for (std::size_t i = 0; i < n.size(); ++i) {
    along = along + n[i] * (*h)[i];
    square = square + algebra::pow((*h)[i], 2);
  }
  // without a field from the neighbours S is the same in every direction
  const Expr none = arena_.make(Op::Equal, {square, arena_.integer(0)});
  const Expr share =
      arena_.make(Op::Select, {none, arena_.integer(0), arena_.integer(2) * along / square});
  std::vector<Expr> result;
  for (std::size_t i = 0; i < n.size(); ++i) result.push_back(share * (*h)[i] - n[i]);
  how = "the vector is mirrored about the local field";
  return with_norm(std::move(result));
}

std::optional<SiteChange::Quadratic> SiteChange::quadratic(std::string& why) const {
  Quadratic result;
  for (const int array : field_.arrays) {
    const Expr u = arena_.load(array);
    const Expr first = algebra::expand(algebra::derivative(here_, u));
    for (const int other : field_.arrays) {
      const Expr second = algebra::expand(algebra::derivative(first, arena_.load(other)));
      const Expr known = result.curvature;
      if (other != array ? !second.is_zero() : known && !(second == known)) {
        why = "not a square of the value plus something linear";
        return std::nullopt;
      }
      if (other == array) result.curvature = second;
    }
    const Expr curvature = result.curvature;
    for (const int own : field_.arrays) {
      if (!algebra::depends_on(curvature, arena_.load(own)) && !curvature.is_zero()) continue;
      why = curvature.is_zero() ? "linear in the value, so that no value is the most likely one"
                                : "not quadratic in the value at a site";
      return std::nullopt;
    }
    result.slope.push_back(first);
  }
  return result;
}

std::optional<std::vector<Expr>> SiteChange::mirrored(std::string& how, std::string& why) const {
  if (!field_.values.empty()) {
    why = "one of discrete values";
    return std::nullopt;
  }
  if (breaks()) {
    why = "not smooth in the value at a site";
    return std::nullopt;
  }
  if (period_ > 0) return mirrored_angle(how, why);
  if (field_.length) return mirrored_vector(how, why);
  // u - 2 M^-1 S' for S'' = M: here M is one number times 1
  const auto square = quadratic(why);
  if (!square) return std::nullopt;
  const Expr two = arena_.integer(2), curvature = square->curvature;
  std::vector<Expr> result;
  for (std::size_t i = 0; i < field_.arrays.size(); ++i) {
    const Expr u = arena_.load(field_.arrays[i]);
    const Expr other_side = u - two * square->slope[i] / curvature;
    // a curvature made of neighbours may vanish: S is the same everywhere then, or has no mirror
    result.push_back(
        algebra::per_site(curvature)
            ? arena_.make(Op::Select,
                          {arena_.make(Op::Equal, {curvature, arena_.integer(0)}), u, other_side})
            : other_side);
  }
  how = "the value is mirrored about the most likely one";
  return result;
}

}  // namespace vphi::physics
