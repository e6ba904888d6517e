// Values that a site and its neighbours compute alike.
//
// A function of one site that a stencil reads at several neighbours (a pressure, 1/(1 + phi^2)), or
// the flux through a face, which both cells beside it need, is computed as often as it is read
// where a kernel goes site by site. Two values are equal if they are the same operations on reads
// that are shifted by the same distance. `neighbour_values` chooses those that are worth an array:
// a kernel before stores them once a site, and the kernel reads them as it reads a field. The
// operations and their order do not change, and neither do the bits. Pure functions.
//
// Derivatives of a written energy have the terms of one sum in another order at each neighbour.
// Where at least a fifth of the time is saved by it, such sums are equal too: all of them are added
// in the order that one of them has.
//
// The choice is by counts: the time of a kernel is its estimated instructions or its bytes,
// whichever takes longer, at the ratio that GPUs and processors of today have.
//
// Beyond the ends of an axis lie images of sites, of a mirror or of the last site. The image of a
// value is the value of the image where it belongs to one coordinate of the axis. Other values are
// equal there only at the same coordinate, and so are all values along an axis where a sign changes
// at the ends or the outside is fixed. Values that contain the site's coordinates or random numbers
// are left as they are.
#pragma once

#include <utility>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// A value to be stored, and where it is used.
struct NeighbourValue {
  Expr value;                                          ///< at the site where it is stored
  std::vector<std::pair<Expr, algebra::Offset>> uses;  ///< nodes, and the site at which each is it
};

struct NeighbourValues {
  std::vector<NeighbourValue> stored;  ///< empty: the kernel stays whole
  /// Estimated instructions of a site, or what its bytes take where that is more: of the whole
  /// kernel, and of both.
  int before = 0, after = 0;
};

NeighbourValues neighbour_values(const Kernel& kernel);

}  // namespace vphi::kernel
