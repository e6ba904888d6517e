#include "compiler/emit/math/table_index.hpp"

#include <algorithm>

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Op;

constexpr std::int64_t kMost = 1 << 20;

std::optional<std::int64_t> whole(Expr expr) {
  if (!expr.is_number() || !expr->number.exact || expr->number.rational.den != 1) return {};
  const std::int64_t n = expr->number.rational.num;
  if (n < -kMost || n > kMost) return {};
  return n;
}

/// The bound and the other argument of a minimum or maximum of two.
struct Bounded {
  std::int64_t bound = 0;
  Expr of;
};
std::optional<Bounded> bounded(Expr expr, Op op) {
  if (!expr.is(op) || expr.args().size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto bound = whole(expr.arg(i))) return Bounded{*bound, expr.arg(1 - i)};
  }
  return {};
}

}  // namespace

std::optional<TableIndex> table_index_of(Expr expr) {
  const auto above = bounded(expr, Op::Min);
  const auto below = above ? bounded(above->of, Op::Max) : std::nullopt;
  if (!below || !below->of.is(Op::Floor) || below->bound > above->bound) return {};
  TableIndex place{below->of.arg(0), {}, below->bound, above->bound};
  const Expr product = place.of;
  if (product.is(Op::Mul) && product.args().size() == 2 && product.arg(0).is_number()) {
    place.scale = product.arg(0);
    place.of = product.arg(1);
  }
  return place;
}

bool is_index(Expr expr) {
  if (expr.is_number()) return whole(expr).has_value();
  if (expr.is(Op::Add) || expr.is(Op::Mul)) return std::ranges::all_of(expr.args(), is_index);
  return table_index_of(expr).has_value();
}

}  // namespace vphi::emit
