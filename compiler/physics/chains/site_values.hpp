// Random choices among the values of a discrete field (StateField::values, ascending).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::physics {

/// choices[k] where the uniform number lies in the k-th of equal parts of (0, 1).
inline algebra::Expr chosen(const std::vector<algebra::Expr>& choices, algebra::Expr uniform) {
  algebra::Arena& arena = *uniform->arena;
  const auto n = static_cast<std::int64_t>(choices.size());
  algebra::Expr result = choices.back();
  for (std::int64_t k = n - 2; k >= 0; --k)
    result = arena.make(algebra::Op::Select,
                        {arena.make(algebra::Op::Less, {uniform, arena.rational(k + 1, n)}),
                         choices[static_cast<std::size_t>(k)], result});
  return result;
}

/// One of the values, each as likely.
inline algebra::Expr value_at(algebra::Arena& arena, const std::vector<std::int64_t>& values,
                              algebra::Expr uniform) {
  std::vector<algebra::Expr> choices;
  for (const std::int64_t v : values) choices.push_back(arena.integer(v));
  return chosen(choices, uniform);
}

/// The value k with the weight exp(-actions[k]), whatever the present one is.
algebra::Expr drawn_by_weight(const std::vector<algebra::Expr>& actions,
                              const std::vector<algebra::Expr>& values, algebra::Expr uniform);

}  // namespace vphi::physics
