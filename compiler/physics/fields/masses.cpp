#include "compiler/physics/fields/masses.hpp"

#include <utility>

#include "compiler/algebra/ops.hpp"

namespace vphi::physics {

using algebra::Expr;

int solve_masses(std::vector<std::vector<Expr>> m, std::vector<Expr>& r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && m[pivot][k].is_zero()) ++pivot;
    if (pivot == n) return static_cast<int>(k);
    std::swap(m[k], m[pivot]), std::swap(r[k], r[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      if (m[i][k].is_zero()) continue;
      const Expr factor = m[i][k] / m[k][k];
      for (std::size_t j = k + 1; j < n; ++j)
        if (!m[k][j].is_zero()) m[i][j] = m[i][j] - factor * m[k][j];
      r[i] = r[i] - factor * r[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    Expr sum = r[k];
    for (std::size_t j = k + 1; j < n; ++j)
      if (!m[k][j].is_zero()) sum = sum - m[k][j] * r[j];
    r[k] = sum / m[k][k];
  }
  return -1;
}

}  // namespace vphi::physics
