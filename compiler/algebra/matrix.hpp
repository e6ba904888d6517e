// Small dense matrices of numbers, row by row.
#pragma once

#include <complex>
#include <vector>

namespace vphi::algebra {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b);

/// The largest |entry|; infinite where one is NaN.
double largest_entry(const Matrix& a);

/// The largest |eigenvalue|, estimated as |a^k|^(1/k) with k = 2^squarings (Gelfand). Ten squarings
/// are accurate to 1 % for a dozen rows. Infinite where an entry is NaN.
double spectral_radius(Matrix a, int squarings);

/// All eigenvalues, by the QR iteration with shifts (Francis, Comput. J. 4 (1961) 265). Those of a
/// k-fold eigenvalue without k eigenvectors are apart by the k-th root of rounding. Empty where an
/// entry is not finite or the iteration does not end.
std::vector<std::complex<double>> eigenvalues(const Matrix& a);

}  // namespace vphi::algebra
