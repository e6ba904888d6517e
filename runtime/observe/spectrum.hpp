// Power spectra of lattice fields, binned by wave number (CosmoLattice Technical Note I).
//
//   f~(n) = sum_x f exp(-2 pi i n x/N),  P(k) = dx^d/N_sites <|f~|^2>_bin,  N_sites = N^d
//   type II:  Delta(k) = k^4 P/(8 pi^2)  (d = 4),  k^3 P/(2 pi^2)  (d = 3),  k^2 P/(2 pi)  (d = 2),
//             k P/pi  (d = 1)
//   type I:   Delta(k) = k/k_IR * sum_bin |f~|^2 / N_sites^2
// Type I uses the exact number of modes, so that the sum over bins of Delta*k_IR/k is the variance
// exactly; type II uses the volume of the shell in the continuum. k of bin l, by version:
//   1: k_IR*l      2: mean k of its modes      3: k stands inside the average, <k^3 |f~|^2>_bin
// SpectrumForm::single: a bin for each value of |k| (program/wave_numbers.hpp), in this order.
// With a Laplacian's symbol k of a mode is k_eff = sqrt(-symbol)/dx, the wave number that appears
// in the lattice equation; its bin is given by |n| in any case.
//
// |f~|^2 of several components is the sum over them, each times its weight: real and imaginary part
// of a complex field (exact, since a bin holds k and -k), components of a vector, off-diagonal ones
// of a symmetric tensor twice. A cross spectrum has Re(f~ conj(g~)) instead. Pure functions.
//
// Sums over the modes of bins come first (`..._sums`), by all ranks that share a box: each has the
// modes of its own columns. The first of them makes the spectrum.
#pragma once

#include <vector>

#include "runtime/observe/modes.hpp"

namespace vphi::observe {

struct SpectrumBin {
  double k = 0, power = 0, delta = 0;
  double modes = 0;  ///< an integer, unless two bins share a mode
};

/// Adds weight*|f~|^2 of one component from its numbers at own sites; `power` has transform.modes()
/// entries.
void add_power(fft::SharedTransform& transform, std::span<const double> values, double weight,
               std::vector<double>& power);
/// Re(f~ conj(g~)) of every own mode.
std::vector<double> cross_power(fft::SharedTransform& transform, std::span<const double> f,
                                std::span<const double> g);
/// The same of a whole box.
void add_power(const Grid& grid, std::span<const double> values, double weight,
               std::vector<double>& power);
std::vector<double> cross_power(const Grid& grid, std::span<const double> f,
                                std::span<const double> g);

/// The spectrum from |f~|^2 of every mode; the zero mode is omitted.
BinSums spectrum_sums(const Grid& grid, const program::SpectrumForm& form,
                      fft::SharedTransform& transform, const std::vector<double>& power);
std::vector<SpectrumBin> spectrum_of(const Grid& grid, const program::SpectrumForm& form,
                                     const BinSums& sums);
/// Of a whole box at once.
std::vector<SpectrumBin> spectrum(const Grid& grid, const program::SpectrumForm& form,
                                  const std::vector<double>& power);

/// Wave number of a mode, lattice or effective.
double wave_number(const Grid& grid, const program::SpectrumForm& form, const Mode& mode);

/// n_k = a^2/2 [omega P_f + a^2 P_f'/omega],  omega^2 = k^2 + a^2 m^2  (docs/formulas.md 1.7), P of
/// the canonically normalised field and of its rate in physical time, k comoving. The vacuum has
/// 1/2. A negative m^2 counts as 0. `energy`: comoving density per log k, k^3 omega n/(2 pi^2 a^4).
struct OccupationBin {
  double k = 0, number = 0, omega = 0, energy = 0, modes = 0;
};
BinSums occupation_sums(const Grid& grid, const program::SpectrumForm& form,
                        fft::SharedTransform& transform, const std::vector<double>& power,
                        const std::vector<double>& rate_power, double a, double mass2);
std::vector<OccupationBin> occupation_of(const Grid& grid, const program::SpectrumForm& form,
                                         const BinSums& sums, double a);
/// Of a whole box at once.
std::vector<OccupationBin> occupation(const Grid& grid, const program::SpectrumForm& form,
                                      const std::vector<double>& power,
                                      const std::vector<double>& rate_power, double a,
                                      double mass2);

}  // namespace vphi::observe
