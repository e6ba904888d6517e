// Power spectra of lattice fields, binned by wave number ("type II" of CosmoLattice, Technical Note
// I).
//
//   f~(n) = sum_x f exp(-2 pi i n x/N),   P(k) = dx^d/N_sites <|f~|^2>_bin,
//   Delta(k) = k^3 P/(2 pi^2)  (d = 3),  k^2 P/(2 pi)  (d = 2),  k P/pi  (d = 1),
// so that the variance is the integral of Delta over log k. Bin l holds the modes with
// |k|/k_IR in [l - 1/2, l + 1/2) and is labelled with k = l k_IR, k_IR = 2 pi over the longest
// edge. Modes are counted with both halves of the transform: 18, 62, 98, 210, ... at N = 64.
#pragma once

#include <span>
#include <vector>

#include "program/program.hpp"

namespace vphi::io {

struct SpectrumBin {
  double k = 0, power = 0, delta = 0;
  std::int64_t modes = 0;
};

/// `values`: one per site; lattices of 1 to 3 dimensions (a fourth gives no bins). k in units of
/// 1/`dx`.
std::vector<SpectrumBin> spectrum(std::span<const double> values,
                                  const std::array<std::int64_t, 4>& extent, int dims, double dx,
                                  int threads);

/// Counts in equal bins of [low, high); low == high: the range of the data.
struct Histogram {
  double low = 0, high = 0;
  std::vector<std::int64_t> counts;
};
Histogram histogram(std::span<const double> values, int bins, double low, double high);

/// Values along an axis, averaged over the others; x from the centre of the box.
struct ProfilePoint {
  double x = 0, mean = 0;
};
std::vector<ProfilePoint> axis_profile(std::span<const double> values,
                                       const std::array<std::int64_t, 4>& extent, int axis,
                                       double dx);

}  // namespace vphi::io
