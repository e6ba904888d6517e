// Passes over kernels: pure functions that take a SiteLoop and return an equivalent, cheaper one.
//
// A SiteLoop is a kernel before it is linked into a step: it has a body, and scalars that must be
// computed before it starts. Linking (compiler/schedule/linking.hpp) appends those to the epilogue
// that runs before it. The order of the passes is in compiler/schedule/pipeline.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct SiteLoop {
  Kernel kernel;                     ///< body; its epilogue follows from its reductions
  std::vector<ScalarAssign> before;  ///< scalars computed before it starts, in order
  /// Per-site values that several stores and reductions use, in order; later expressions refer to
  /// them by Load(array). They remain separate until the order of operations is fixed, so that no
  /// pass multiplies them out.
  std::vector<Store> shared;
};

/// Makes a new name for a scalar from a hint ("c_phi").
using FreshName = std::function<std::string(const std::string&)>;

/// Takes scalar factors out of every store and reduction and merges terms with equal per-site
/// parts: k1*a^2*(lap(u) - u) + k2*b*lap(u) becomes (k1*a^2 + k2*b)*lap(u) - k1*a^2*u. A factor
/// common to all terms of a reduction moves to the epilogue.
SiteLoop collect(SiteLoop loop, const FreshName& fresh);

/// Turns every maximal scalar expression inside a store or a reduction into a scalar of its own,
/// computed once in f64 before the kernel instead of at each site.
SiteLoop hoist(SiteLoop loop, const FreshName& fresh);

/// Takes common per-site factors out of sums, Horner's scheme included: c1*u + c2*u*v^2 becomes
/// u*(c1 + c2*v^2).
SiteLoop factor(SiteLoop loop, const FreshName& fresh);
Expr factored(Expr expr);

/// Replaces shared values by their expressions and simplifies, for the verifier and for printing.
SiteLoop inlined(SiteLoop loop);

/// Fixes the order of operations: sums from left to right (what is added to a stored value comes
/// first and is added to it last), integer powers by repeated squaring, half-integer ones by square
/// roots, divisions gathered into one. From here on arguments are evaluated from left to right, and
/// shared values are replaced by their expressions.
SiteLoop order(SiteLoop loop, const FreshName& fresh);
Expr with_fixed_order(Expr expr);

}  // namespace vphi::kernel
