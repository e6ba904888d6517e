// What the vacuum's modes are made of (vacuum.hpp), for one device and for ranks that share a
// lattice.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/fft/fft.hpp"
#include "runtime/run/starts/vacuum.hpp"

namespace vphi::runtime {

/// A box and its octant n_i = 0 .. N_i/2 of modes, or of sites at distances of at most half a box.
/// In memory an octant may have a part of this along an axis (`half`).
struct OctantShape {
  std::array<std::int64_t, 3> n, half;
  explicit OctantShape(const fft::Box& box)
      : n(box.n), half{n[0] / 2 + 1, n[1] / 2 + 1, n[2] / 2 + 1} {}
  std::int64_t size() const { return half[0] * half[1] * half[2]; }
};

/// Square root of the vacuum's power times V, without the volume, with the cut.
class Amplitude {
 public:
  explicit Amplitude(const Vacuum& vacuum);
  double cut() const { return cut_; }
  double operator()(double k) const;

 private:
  double mass2_;
  bool velocity_, smooth_;
  double cut_ = 0;
};

/// Of the kernel form: c(r) at the distances of sites, before it is transformed.
class VacuumCorrelator {
 public:
  explicit VacuumCorrelator(const Vacuum& vacuum);
  /// At so many sites along each axis, at most half a box.
  double operator()(std::int64_t x, std::int64_t y, std::int64_t z) const;
  std::vector<double> release() { return std::move(at_); }

 private:
  std::vector<double> at_;  ///< r = i dx/16
};

/// Whether amplitudes are the transform of the correlator. Else they have a formula.
bool by_correlator(const Vacuum& vacuum);
/// Amplitudes that have a formula.
ModeAmplitude amplitude_by_formula(const Vacuum& vacuum);
/// A transformed correlator times this is the amplitude.
double correlator_scale(const Vacuum& vacuum);

/// Fourier transform along `axis` of data that is even about 0 and of which only the octant is
/// kept; the result is real and even again. Two lines share a lane as real and imaginary part: a
/// part of an octant has the bits of the whole where an even number of lines lie before it.
void even_transform(const OctantShape& shape, int axis, std::vector<double>& octant, int threads);

/// Complex normal noise g of the mode with n_x = x and the numbers y and z, counted from 0: of real
/// data, <|g|^2> = 1.
fft::Complex mode_noise(const Vacuum& vacuum, std::int64_t x, std::int64_t y, std::int64_t z);

}  // namespace vphi::runtime
