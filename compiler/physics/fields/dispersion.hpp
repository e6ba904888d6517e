// Plane waves about the homogeneous start: the largest frequency of a lattice whose equations name
// neighbours by hand (`u@k`, links), where it does not follow from a single Laplacian.
//
// With u''_i = -sum_j sum_o w_ij(o) u_j(x + o) the squares of the frequencies at k are the
// eigenvalues of M_ij(k) = sum_o w_ij(o) exp(i k o). Averages are held fixed.
#pragma once

#include "compiler/physics/stages/program.hpp"

#include <optional>
#include <vector>

namespace vphi::physics {

/// Largest eigenvalue of a symmetric matrix, by Jacobi's rotations.
double largest_eigenvalue(std::vector<std::vector<double>> m);

/// w^2, physical units, over wave vectors of multiples of pi/4 (a lower bound of the largest);
/// nothing where the start is not homogeneous or a coefficient is not a constant.
std::optional<double> largest_frequency2(const Program& d);

}  // namespace vphi::physics
