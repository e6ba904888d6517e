// Small matrices of complex numbers, row by row: the inverse, and powers of hermitian ones.
#pragma once

#include <vector>

#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

using Dense = std::vector<Complex>;  ///< n x n

Dense inverse_of(Dense a, std::size_t n);
/// a^+ a.
Dense square_of(const Dense& a, std::size_t n);
/// a^p of a hermitian, positive matrix, by its eigenvectors (rotations of Jacobi).
Dense power_of(Dense a, std::size_t n, long double p);
std::vector<Complex> product_of(const Dense& a, const std::vector<Complex>& v);

}  // namespace vphi::tools
