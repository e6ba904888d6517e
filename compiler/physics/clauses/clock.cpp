#include "compiler/physics/clauses/clock.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/algebra/transform.hpp"

namespace vphi::physics {

using algebra::Op;

bool counts_steps(const Motion& d) {
  return d.dt_physical > 0 && !d.adaptive() && !d.tolerance() &&
         (!d.expanding() || d.rescaling.s.is_zero());
}

std::int64_t whole_number(long double number) {
  constexpr long double kRounding = 1e-9L, kMost = 1e15L;
  if (!(number >= 0) || number > kMost) return -1;
  const long double whole = std::round(number);
  const long double slack = kRounding * std::clamp(number, 1.0L, 1e5L);
  return std::abs(number - whole) <= slack ? static_cast<std::int64_t>(whole) : -1;
}

std::int64_t steps_of(const Motion& d, long double time) {
  return whole_number(time / static_cast<long double>(d.dt_physical));
}

Expr by_steps(const Motion& d, Expr condition) {
  if (!counts_steps(d)) return condition;
  if (condition.is(Op::And) || condition.is(Op::Or) || condition.is(Op::Not)) {
    std::vector<Expr> parts;
    for (const Expr part : condition.args()) parts.push_back(by_steps(d, part));
    return d.arena().make(condition->op, parts, condition->span);
  }
  if (!condition.is(Op::Less) && !condition.is(Op::LessEqual)) return condition;
  const bool bound_first = condition.arg(1) == d.time();
  if (!bound_first && !(condition.arg(0) == d.time())) return condition;
  const auto bound = algebra::constant(condition.arg(bound_first ? 0 : 1));
  const auto start = static_cast<long double>(d.start_time);
  const std::int64_t count = bound ? steps_of(d, bound->real - start) : -1;
  if (count < 0) return condition;
  // t > n dt is t > (n + 1/2) dt, t >= n dt is t > (n - 1/2) dt; the other way round for the rest
  const bool later = bound_first == condition.is(Op::Less);
  const long double half = later ? 0.5L : -0.5L;
  const Expr moved = d.arena().real(start + static_cast<long double>(d.dt_physical) *
                                                (static_cast<long double>(count) + half));
  return bound_first ? d.arena().make(Op::Less, {moved, d.time()}, condition->span)
                     : d.arena().make(Op::Less, {d.time(), moved}, condition->span);
}

}  // namespace vphi::physics
