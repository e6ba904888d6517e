#include "compiler/emit/math/table_index.hpp"

#include <algorithm>

namespace vphi::emit {

using algebra::Expr;
using algebra::Op;

bool is_index(Expr expr) {
  constexpr std::int64_t kMost = 1 << 20;
  if (expr.is_number()) {
    if (!expr->number.exact || expr->number.rational.den != 1) return false;
    const std::int64_t n = expr->number.rational.num;
    return n >= -kMost && n <= kMost;
  }
  if (expr.is(Op::Add) || expr.is(Op::Mul)) return std::ranges::all_of(expr.args(), is_index);
  return expr.is(Op::TableIndex);
}

}  // namespace vphi::emit
