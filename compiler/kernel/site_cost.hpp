// Inputs, outputs and operations of the function of one site. This is the part of `cost` between
// loads and stores, which the audit counts a second time in the emitted text.
//
// Both counts have the same rule: an addition, a multiplication, a comparison, a change of sign, a
// minimum, a maximum, an absolute value or a rounding is a flop, an fma is two; a division, a root
// or a call of any other function is special, one each; selects and logic are free. A value that is
// used several times counts once, and so do the squares of an integer power. The sums of stencils,
// random numbers and the addition of each reduction are outside this function; only `cost` counts
// them. Where a kernel sums over pairs, all numbers are those of one pair; values of one site alone
// are inputs.
#pragma once

#include <functional>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct SiteCost {
  int inputs = 0;   ///< arguments: own and neighbouring values, stencil sums, draws, coordinates
  int outputs = 0;  ///< results: stores and terms of reductions
  int flops = 0;
  /// Multiplications whose product is used by a single addition: the two are one fma.
  int fused = 0;
  int special = 0;
  /// Reciprocal roots in `special`, where each counts two; one instruction with Kernel::fast.
  int reciprocal_roots = 0;
  /// The same for roots that are only divisors; on GPUs they take one more product.
  int dividing_roots = 0;
  /// Numbers read from tables. Each has two flops that keep the position inside the table; CUDA
  /// code omits them where the position cannot be outside.
  int lookups = 0;
};

SiteCost site_cost(const Kernel& kernel);

/// Bytes that a site moves from and to memory, which is read and written by sectors of 32 bytes:
/// where the sites of a colour lie `apart` along x, their sectors hold numbers of other colours
/// too. `by_colour`: whether the sites of a colour are stored together in that array.
int bytes_moved(const Kernel& kernel, const std::function<bool(int array)>& by_colour);

/// What a site computes at least. Iterations that end early (kernel/rounds.hpp, round_parts.hpp)
/// count with one round; all else as in `cost`, that of the kernel.
struct LeastWork {
  int instructions = 0, special = 0;
  Chain chain;
};
LeastWork least_work(const Kernel& kernel, const Cost& cost, bool processor);

/// The time of a site on a GPU in instructions: that of its instructions, or of its bytes where
/// memory takes longer.
int time_of_site(int instructions, int bytes, Precision precision);

/// dx^power / denominator: the factor of a stencil's integer sum.
long double stencil_factor(const algebra::StencilData& stencil, double dx);

}  // namespace vphi::kernel
