// Inputs, outputs and operations of the function of one site: the part of `cost` that is in the
// emitted text between loads and stores, where the audit can count it again.
//
// One rule holds for both: an addition, a multiplication, a comparison, a change of sign, a
// minimum, a maximum, an absolute value or a rounding is a flop, an fma is two; a division, a root
// or a call of any other function is special, one each; selects and logic are free. A value that is
// used several times counts once, and so do the squares of an integer power. Not in here: sums of
// stencils and random numbers, which the pattern around the function makes, and the addition that
// each reduction takes; `cost` has them. Where a kernel sums over pairs, all of it is of one pair:
// values of one site alone are inputs, made once a site.
#pragma once

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct SiteCost {
  int inputs = 0;  ///< numbers taken: own and neighbouring values, stencil sums, draws, coordinates
  int outputs = 0;  ///< numbers given: stores and terms of reductions
  int flops = 0;
  int fused = 0;  ///< multiplications whose product one addition alone takes: one fma of the two
  int special = 0;
  int reciprocal_roots = 0;  ///< among them, as two; one instruction where `fast` is allowed
  int dividing_roots = 0;    ///< the same of roots that only divide; GPUs then have a product more
  /// Numbers read from tables, with two flops each that hold the place inside; CUDA lacks them
  /// where the place cannot lie outside.
  int lookups = 0;
};

SiteCost site_cost(const Kernel& kernel);

/// dx^power / denominator: what a stencil's integer sum lacks.
long double stencil_factor(const algebra::StencilData& stencil, double dx);

}  // namespace vphi::kernel
