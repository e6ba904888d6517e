// `init u = file("name.h5:set")`: a start that lies in a file.
//
// A set of an HDF5 file has the axes of the domain, slowest first: (z, y, x) of a lattice, (body,)
// of particles. Behind them stand those of a value: (3,) of a vector, (3, 3) of a matrix, (mu,) of
// what lies on links; complex numbers are pairs of a compound type (h5py) or one more axis of 2.
// Axes in front are a stack: `file("events.h5:e")[event]` takes one, another one in each instance
// where `event` is swept. What lies on sites is resampled onto the lattice; bodies and links must
// have the number that the model has. A text has a row for each site or body.
#pragma once

#include <functional>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// `file(...)`, or an index behind it.
bool is_file(const dsl::Expr& e);

/// Whether `file(...)[i]` leaves more than a number: the set has more axes than there are indices.
bool is_stack(const Program& d, const dsl::Expr& e);

/// The value that the start of a field takes from the file: a number for each site, or the field's
/// components; of links what is stored. `add` makes the array that the run fills. Fails with E0781
/// to E0784, or E0831 for links.
Value file_start(const Program& d, Lowerer& lower, const dsl::Expr& e, const StateField& field,
                 const Reading& reading, const std::function<Expr(const RandomField&)>& add);

}  // namespace vphi::physics
