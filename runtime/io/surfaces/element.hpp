// An element of a freeze-out surface in proper time tau, the plane x, y and the rapidity eta, and
// the formats that write it.
//
// Everything is in powers of fm (hbar = c = 1); metric (+, -, -, -). Vectors and tensors have the
// components of the orthonormal frame along tau, x, y, eta. The normal is covariant, by the
// coordinates and without the factor tau of the volume: the flux of a current J through the element
// is tau (J^0 n_0 + J^1 n_1 + J^2 n_2 + J^3 n_3/tau).
#pragma once

#include <array>
#include <string>

namespace vphi::io {

inline constexpr double kHbarC = 0.1973269804;  ///< GeV fm

struct SurfaceElement {
  using Vector = std::array<double, 4>;

  Vector place{}, normal{}, u{};
  double T = 0, eps = 0, p = 0, mu = 0, Pi = 0;
  std::array<Vector, 4> pi{};
  bool bulk = false;  ///< whether the model gives Pi

  double tau() const { return place[0]; }
};

/// A row of MUSIC's text, as iSS reads it: tau x y eta, the normal without the factor tau, u with
/// tau u^eta, e T mu_B mu_S mu_C, (e+P)/T, ten of pi, and Pi where the model has it; powers of
/// 1/fm.
std::string music_row(const SurfaceElement& element);
/// A row of vHLLE's text: tau x y eta; the covariant element dSigma, u and pi of the laboratory's
/// frame t x y z; T mu_B mu_Q mu_S, pi^00 01 11 02 12 22 03 13 23 33, Pi; GeV and fm.
std::string vhlle_row(const SurfaceElement& element);
/// 16 numbers of 64 bits of osu-hydro, as frzout reads them: tau x y, the covariant normal, v_x
/// v_y, pi^tt tx ty xx xy yy zz, Pi; GeV and fm.
std::string osu_row(const SurfaceElement& element);

}  // namespace vphi::io
