// Spin bases in addition to the chiral ones (clifford.hpp), and the gamma5 of a basis.
#pragma once

#include "compiler/gauge/dirac.hpp"

namespace vphi::gauge {

/// gamma_t = diag(1, 1, -1, -1), so that hops in time read half of a spinor; the product of all
/// four is -gamma5, as in the chiral basis.
Gammas dirac_gammas();

/// Pauli's matrices for x, y and z, on components 1, 2 and again on 3, 4, so that products and sums
/// are those of the first two. There is none for t.
Gammas two_component_gammas();

/// gamma5 of any of the bases: the matrix that anticommutes with all four, with the sign of the
/// basis.
SpinMatrix gamma5_of(const Gammas& gammas);

/// The terms at the site as a + b gamma5: a and b. Nothing for other spin matrices.
std::optional<std::pair<Complex, Complex>> local_numbers(const DiracOperator& d,
                                                         const SpinMatrix& g5);
/// local_inverse of dirac.hpp in the basis of this gamma5.
std::optional<std::vector<LocalTerm>> local_inverse(const DiracOperator& d, const SpinMatrix& g5);

}  // namespace vphi::gauge
