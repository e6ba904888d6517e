// Values known before anything runs: parameters and what is computed from them.
//
// Used where a clause needs a number (lattice shape, vec(n), a count of steps, dt > 0). Plain
// double arithmetic: the exact values that reach kernels are the compiler's (compiler/algebra).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// The number an expression stands for, in base units; nothing where it depends on state, time,
/// a swept name, or on a name without meaning.
std::optional<double> constant_value(const Resolved& resolved, const Expr& expr);

/// As above, where the value is a whole number below 2^53.
std::optional<std::int64_t> constant_integer(const Resolved& resolved, const Expr& expr);

/// A lattice shape as it is written: `256^3`, `24^3 * 48`, `800`, `n^2`, `[64, 64, 128]`.
/// Nothing where an extent is not a whole number from 1 on.
std::optional<std::vector<std::int64_t>> lattice_shape(const Resolved& resolved, const Expr& expr);

}  // namespace vphi::dsl
