// Links of SU(n) in the coordinates of a step (compiler/gauge/chart.hpp), as expressions of named
// numbers: what a step made of sums of rates replaces them by.
#pragma once

#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// One link in coordinates about its value at the start of a step, with a number for each
/// generator. `moved` of the link gives U by its `displacement`, which is theta here.
struct LinkChart {
  const LinkMotion* link = nullptr;
  std::vector<int> arrays;      ///< the first numbers of the link, which stand for theta
  std::vector<Expr> velocity;   ///< a symbol for each w_a
  std::vector<Expr> turn_rate;  ///< theta', by theta and w
  std::vector<int> momenta;     ///< the numbers of E
  /// Symbols for each E_a and what it has changed by since the start, and the momentum at the
  /// middle of a step of the midpoint rule by theta and these.
  std::vector<Expr> momentum, change, middle;
};

/// The charts of all links of SU(n) that the integrator moves; empty where there are none.
std::vector<LinkChart> link_charts(const System& system);

}  // namespace vphi::physics
