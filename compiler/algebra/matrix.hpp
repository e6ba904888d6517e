// Small dense matrices of numbers, row by row.
#pragma once

#include <vector>

namespace vphi::algebra {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b);

/// The largest |entry|; infinite where one is NaN.
double largest_entry(const Matrix& a);

/// The largest |eigenvalue|, estimated as |a^k|^(1/k) with k = 2^squarings (Gelfand). Ten squarings
/// are accurate to 1 % for a dozen rows. Infinite where an entry is NaN.
double spectral_radius(Matrix a, int squarings);

}  // namespace vphi::algebra
