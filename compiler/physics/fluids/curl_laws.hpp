// Laws of the form `conserve B = b: curl(E)`, such as that of a magnetic field.
//
// The fluxes of the component i along an axis j and of the component j along i are E and -E. The
// scheme has a value of E at each of the four faces of a cell that are across i or j. Their mean is
// taken as that of the cell, and a face then gets the mean of its two cells: B' is a curl by central
// differences (Toth, J. Comput. Phys. 161 (2000) 605, flux-CD). The divergence by central
// differences, `div(b)`, stays what it is at the start, to rounding.
#pragma once

#include <vector>

#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

/// Puts these fluxes into the sweeps of a right side. Not yet: noise in such a law, steps, boxes that
/// are not periodic, coordinates.
void keep_divergence(const Equations& d, Conservation& c);

}  // namespace vphi::physics
