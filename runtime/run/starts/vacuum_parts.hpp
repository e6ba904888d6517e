// What the vacuum's modes are made of (vacuum.hpp), for one device and for ranks that share a
// lattice.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/fft/fft.hpp"
#include "runtime/parallel.hpp"
#include "runtime/run/starts/vacuum.hpp"

namespace vphi::runtime {

/// A box and its part n_i = 0 .. N_i/2 of modes, or of sites at distances of at most half a box: an
/// octant where there are three dimensions.
/// In memory an octant may have a part of this along an axis (`half`).
struct OctantShape {
  std::array<std::int64_t, 4> n, half;
  explicit OctantShape(const fft::Box& box)
      : n(box.n), half{n[0] / 2 + 1, n[1] / 2 + 1, n[2] / 2 + 1, n[3] / 2 + 1} {}
  std::int64_t rows() const { return half[1] * half[2] * half[3]; }
  std::int64_t size() const { return half[0] * rows(); }
  /// The modes 0, n_y, n_z, n_t of a row of it.
  std::array<std::int64_t, 4> row(std::int64_t number) const {
    const std::int64_t z = number / half[1];
    return {0, number % half[1], z % half[2], z / half[2]};
  }
};

/// value(n) on the octant.
template <class At>
std::vector<double> on_octant(const OctantShape& shape, int threads, const At& value) {
  std::vector<double> out(static_cast<std::size_t>(shape.size()));
  parallel_ranges(shape.rows(), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::array<std::int64_t, 4> n = shape.row(row);
      for (n[0] = 0; n[0] < shape.half[0]; ++n[0])
        out[static_cast<std::size_t>(row * shape.half[0] + n[0])] = value(n);
    }
  });
  return out;
}

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

/// Complex normal noise g of a mode whose numbers are counted from 0: of real data, <|g|^2> = 1.
fft::Complex mode_noise(const Vacuum& vacuum, const std::array<std::int64_t, 4>& n);

}  // namespace vphi::runtime
