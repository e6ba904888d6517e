// The transverse-traceless part of a symmetric tensor field (docs/formulas.md 1.8).
//
//   P_ij = delta_ij - D_i* D_j/|D|^2,   h_ij = P_il v_lm P*_jm - P_ij (P*_lm v_lm)/2
// with D_i the symbol of the lattice derivative along axis i in the source of the waves, so that
// D_i h_ij = 0 holds on the lattice and not only for long waves. Modes with D = 0 (the zero mode;
// for central differences also the corners of the Brillouin zone) have no direction and are set to
// 0. A complex symbol (a one-sided difference) gives a Hermitian h of which the real symmetric part
// is kept. The box must be periodic and have three dimensions.
#pragma once

#include <array>
#include <vector>

#include "runtime/observe/modes.hpp"

namespace vphi::observe {

/// Components 00, 01, 02, 11, 12, 22.
using Tensor = std::array<fft::Complex, 6>;

Tensor project(const Tensor& v, const std::array<fft::Complex, 3>& derivative);

/// In place, each component one value per own site of the transform. Called by all of its ranks.
void transverse_traceless(const Grid& grid, const std::vector<program::Symbol>& derivative,
                          fft::SharedTransform& transform,
                          std::array<std::vector<double>, 6>& components);
/// Of a whole box.
void transverse_traceless(const Grid& grid, const std::vector<program::Symbol>& derivative,
                          std::array<std::vector<double>, 6>& components);

}  // namespace vphi::observe
