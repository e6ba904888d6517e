// Averages of closed loops of links on the host, for checks of the header of a configuration and
// for tests of observables of models. A model's own observables are kernels.
#pragma once

#include <span>

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

/// A step along a path of links; `back`: against the axis, by the adjoint link.
struct LoopStep {
  int axis = 0;
  bool back = false;
};

/// Average over all sites x of Re tr of the product of links along the path that begins at x,
/// divided by N.
double mean_path(const Configuration& configuration, std::span<const LoopStep> path);

/// Re tr P/N over all sites and planes of the first `axes` axes.
double mean_plaquette(const Configuration& configuration, int axes = 4);
/// Re tr R/N of loops of two links along mu and one along nu, over all sites and mu != nu.
double mean_rectangle(const Configuration& configuration, int axes = 4);
/// Re tr U/N over all links.
double mean_link(const Configuration& configuration, int axes = 4);

/// Largest |(U U^+ - 1)_ij| and |det U - 1| of all links, and where the first of these is; NaN
/// where an entry is not a finite number.
struct Farthest {
  double distance = 0;
  std::int64_t site = 0;  ///< x fastest
  int mu = 0;
};
Farthest farthest_from_group(const Configuration& configuration);
double distance_from_group(const Configuration& configuration);

}  // namespace vphi::io
