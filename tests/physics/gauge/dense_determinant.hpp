// Determinants of the operators of fixed quarks (fixed_quarks.hpp) by dense matrices.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi::testing {

/// The matrix of the draw, phi = M eta, between these sites.
inline Dense matrix_of(FixedQuarks& quarks, const std::vector<int>& sites, int inside, int all) {
  Dense m(static_cast<int>(sites.size()) * inside);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (int c = 0; c < inside; ++c) {
      std::vector<C> eta(static_cast<std::size_t>(all * inside));
      eta[static_cast<std::size_t>(sites[i] * inside + c)] = 1;
      const std::vector<C> phi = quarks.drawn(eta);
      for (std::size_t j = 0; j < sites.size(); ++j)
        for (int e = 0; e < inside; ++e)
          m(static_cast<int>(j) * inside + e, static_cast<int>(i) * inside + c) =
              phi[static_cast<std::size_t>(sites[j] * inside + e)];
    }
  }
  return m;
}

/// log |det|, phase of the determinant, by elimination.
inline std::pair<double, C> logarithm(Dense a) {
  double size = 0;
  C phase = 1;
  for (int k = 0; k < a.n; ++k) {
    int pivot = k;
    for (int i = k; i < a.n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    for (int j = 0; pivot != k && j < a.n; ++j) std::swap(a(k, j), a(pivot, j));
    const C diagonal = a(k, k);
    size += std::log(std::abs(diagonal));
    phase *= diagonal / std::abs(diagonal) * (pivot != k ? -1.0 : 1.0);
    for (int i = k + 1; i < a.n; ++i) {
      const C f = a(i, k) / diagonal;
      for (int j = k; j < a.n; ++j) a(i, j) -= f * a(k, j);
    }
  }
  return {size, phase};
}

}  // namespace vphi::testing
