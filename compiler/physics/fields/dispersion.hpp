// Plane waves about a homogeneous initial state: the largest frequency where the equations read
// neighbours explicitly (`u@k`, links), so that it does not follow from a single Laplacian.
//
// With u''_i = -sum_j sum_o w_ij(o) u_j(x + o) the squares of the frequencies at k are the
// eigenvalues of M_ij(k) = sum_o w_ij(o) exp(i k o). Averages are held fixed.
#pragma once

#include "compiler/physics/stages/program.hpp"

#include <optional>
#include <vector>

namespace vphi::physics {

/// Largest eigenvalue of a symmetric matrix, by Jacobi rotations.
double largest_eigenvalue(std::vector<std::vector<double>> m);

/// Largest w^2 in physical units over wave vectors whose components are multiples of pi/4; this is
/// a lower bound. Nothing where the initial state is not homogeneous or a coefficient is not a
/// constant.
std::optional<double> largest_frequency2(const Program& d);

}  // namespace vphi::physics
