// Values that are known at compile time: parameters, and expressions of them.
//
// For clauses that need a number (lattice shape, vec(n), a number of steps, dt > 0). The arithmetic
// is f64; the exact values in kernels are computed by compiler/algebra.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// The value of an expression in base units; nothing where it depends on state, time, a swept name,
/// or an unknown name.
std::optional<double> constant_value(const Resolved& resolved, const Expr& expr);

/// The same where the value is an integer below 2^53.
std::optional<std::int64_t> constant_integer(const Resolved& resolved, const Expr& expr);

/// The extents of a lattice shape: `256^3`, `24^3 * 48`, `800`, `n^2`, `[64, 64, 128]`. Nothing
/// where an extent is not a positive integer.
std::optional<std::vector<std::int64_t>> lattice_shape(const Resolved& resolved, const Expr& expr);

}  // namespace vphi::dsl
