// `init u = file("name.h5:set")`: initial values from a file.
//
// A data set of an HDF5 file has the axes of the domain, slowest first: (z, y, x) for a lattice,
// (body,) for particles. The axes of a value follow: (3,) for a vector, (3, 3) for a matrix, (mu,)
// for links. Complex numbers are pairs of a compound type (h5py) or have a further axis of extent
// 2. Axes in front form a stack of fields: `file("events.h5:e")[event]` takes one of them, and a
// different one in each instance where `event` is swept. Values at sites are resampled onto the
// lattice; the numbers of bodies and of links must be those of the model. A text file has a row for
// each site or body. With `spread = w` a set has rows of points instead, a position and a weight,
// and each point adds its weight as a Gaussian of width w (runtime/io/point_file.hpp): the array is
// one of kind File with the wave number 1/w as its cutoff.
#pragma once

#include <functional>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether the expression is `file(...)`, possibly with indices.
bool is_file(const dsl::Expr& e);

/// Whether `file(...)[i]` is more than a number: the data set has more axes than there are indices.
bool is_stack(const Program& d, const dsl::Expr& e);

/// The initial value of a field from the file: a number for each site, or the field's components;
/// for links, their stored numbers. `add` makes the array that the run fills. Fails with E0781 to
/// E0784, or E0831 for links.
Value file_start(const Program& d, Lowerer& lower, const dsl::Expr& e, const StateField& field,
                 const Reading& reading, const std::function<Expr(const RandomField&)>& add);

}  // namespace vphi::physics
