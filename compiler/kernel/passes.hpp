// Passes over kernels: pure functions from a sweep to a better one.
//
// A Sweep is a kernel before it is linked into a step: beside its body it has the scalars that must
// be known before it starts. Linking (`link` of compiler/schedule/pipeline.hpp) puts those at the
// end of the epilogue that runs before it. The order of the passes is in the same header.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct SiteLoop {
  Kernel kernel;                     ///< epilogue: what follows from its reductions
  std::vector<ScalarAssign> before;  ///< scalars computed before it starts, in order
  /// Values per site that several stores and reductions share, in order: Load(array) stands for
  /// one in what follows. Kept apart until the order is fixed, so that no pass multiplies them out.
  std::vector<Store> shared;
};

/// A new name for a scalar: called with a hint ("c_phi").
using FreshName = std::function<std::string(const std::string&)>;

/// Scalar factors multiplied out of every store and reduction, equal per-site parts merged:
/// k1*a^2*(lap(u) - u) + k2*b*lap(u) becomes (k1*a^2 + k2*b)*lap(u) - k1*a^2*u. The common factor
/// that a reduction is left with goes to its epilogue.
SiteLoop collect(SiteLoop loop, const FreshName& fresh);

/// Every maximal expression of scalars inside a store or a reduction becomes a scalar of its own,
/// computed once before the sweep in f64 instead of at each site.
SiteLoop hoist(SiteLoop loop, const FreshName& fresh);

/// Common per-site factors are taken out of sums, Horner's scheme included:
/// c1*u + c2*u*v^2 becomes u*(c1 + c2*v^2).
SiteLoop factor(SiteLoop loop, const FreshName& fresh);
Expr factored(Expr expr);

/// Shared values put where they are used, simplified again: for the verifier and for people.
SiteLoop inlined(SiteLoop loop);

/// Fixes the order of operations: sums from left to right (what is added to a stored value comes
/// first and is added to it last), integer powers by repeated squaring, half-integer ones by square
/// roots, divisions gathered into one. From here on arguments are evaluated from left to right.
/// Shared values are put where they are used.
SiteLoop order(SiteLoop loop, const FreshName& fresh);
Expr with_fixed_order(Expr expr);

}  // namespace vphi::kernel
