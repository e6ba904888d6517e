// Vacuum fluctuations of a free field on the lattice, made on the host in f64.
//
// With f(x) = sum_k F_k exp(i k x) in a periodic box of volume V in d dimensions, the vacuum has
//   <|F_k|^2> = 1/(2 omega_k V)  for the field,   omega_k/(2 V)  for its time derivative,
// omega_k^2 = k^2 + m^2 (m^2 < 0 counts as 0), all in program units, times `amplitude`^2; the
// derivative is independent of the field and the zero mode is left to the homogeneous value.
//
// Two forms. In the k-space form the amplitudes are these, with a sharp `cutoff` where one is
// given. The kernel form (DEFROST, Frolov, JCAP 2008/11/009) convolves white noise with the
// vacuum's correlator in real space, sampled within half a box around each site: the right
// correlation function at finite distance, long waves averaged over the box. It cuts the power by
// exp(-2 (k/cutoff)^2), by default at half the Nyquist wave number. It exists in three dimensions;
// in one, two and four dimensions the k-space amplitudes are multiplied by the same cut-off.
//
// Every mode has its own random number, by seed, stream and wave vector: the field is the same for
// every device and number of threads, and keeps its long waves when the lattice gets finer. The
// modes of the planes n_x = 0 and n_x = N_x/2 come in conjugate pairs and each pair is drawn once
// (self-conjugate ones real with full variance), so these planes have the full power.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/fft/fft.hpp"

namespace vphi::runtime {

struct Vacuum {
  fft::Box box;
  int dims = 3;
  double dx = 1;  ///< program units
  std::uint64_t seed = 1;
  std::uint32_t stream = 0;
  bool velocity = false;
  double mass2 = 0;
  double amplitude = 1;
  double cutoff = 0;  ///< wave number; 0: none (k-space form), half Nyquist (kernel form)
  bool kernel_form = true;

  double volume() const;
};

/// Root mean square of |F_k| for n_i = 0 .. N_i/2, n_x first; signs do not matter.
using ModeAmplitude = std::function<double(const std::array<std::int64_t, 4>& n)>;

/// Root mean square of |F_k| for each mode of the octant n_i = 0 .. N_i/2, n_x fastest.
std::vector<double> vacuum_amplitudes(const Vacuum& vacuum, int threads);

/// Data from which a device makes the same field (device_field.hpp). For the kernel form it is the
/// correlator c(r) at r = i dx/16, which is then transformed; for the k-space form the cut-off of
/// the amplitudes.
struct VacuumRecipe {
  std::vector<double> correlator;  ///< empty: amplitudes by their formula
  double cut = 0;                  ///< wave number, may be infinite
  bool smooth = false;             ///< exp(-(k/cut)^2) instead of a step
  double scale = 0;                ///< of every amplitude
};
VacuumRecipe vacuum_recipe(const Vacuum& vacuum);

/// The fluctuation at every site, x fastest.
std::vector<double> vacuum_field(const Vacuum& vacuum, int threads);
/// The same with given amplitudes, which do not depend on seed and stream.
std::vector<double> vacuum_field(const Vacuum& vacuum, const std::vector<double>& amplitudes,
                                 int threads);

}  // namespace vphi::runtime
