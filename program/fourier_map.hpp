// The matrices of a map in Fourier space, mode by mode (FourierMap in program/program.hpp).
//
// Computed with 64-bit mantissas, so that f64 has them to its last place. Pure functions.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vphi::program {

/// A matrix of complex numbers, row by row.
using ModeMatrix = std::vector<std::complex<long double>>;

/// f(matrix) of a square matrix.
ModeMatrix function_of(FourierMap::Function function, const ModeMatrix& matrix);

/// f(scale*M) mode by mode, with memory that is used again: one object a thread. Arrays that no
/// mode connects are computed apart from each other.
class ModeMatrices {
 public:
  /// The map must outlive it.
  ModeMatrices(const FourierMap& map, double dx);
  /// Of the mode with the phases theta along x, y, z, t: map.to.size() rows. Holds until the next
  /// call.
  const ModeMatrix& of(const std::array<double, 4>& theta);

 private:
  const FourierMap& map_;
  double dx_;
  std::vector<std::vector<std::size_t>> groups_;
  ModeMatrix matrix_, part_, result_;
};
/// That of one mode.
ModeMatrix mode_of(const FourierMap& map, const std::array<double, 4>& theta, double dx);

/// Planes along the slowest axis that a transform on the host takes together: ranks share a lattice
/// at multiples of it, and each of them then finds the bits of one device.
std::int64_t planes_together(const std::array<std::int64_t, 4>& extent);

/// 2 pi n/N in (-pi, pi].
double phase_of(std::int64_t n, std::int64_t extent);

}  // namespace vphi::program
