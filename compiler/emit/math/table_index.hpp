// Places in tables on GPUs of NVIDIA: pieces counted as integers.
//
// The piece of a table that an argument lies in is min(max(floor(a), low), high). As numbers that
// is a rounding and, for the address, a conversion, both on the unit that computes quotients and
// roots, at a quarter of the rate or less. In f32 one addition that rounds down, of 1.5*2^23,
// leaves the whole part of `a` in the last bits. Read as integers such sums have the same order, so
// the bounds are an integer minimum and maximum, and the number of the piece is what was added to
// the bits. A place is held as that integer (vphi_place_f32 and vphi_place_of_f32, the latter of a
// product that is not rounded before); in f64 a conversion makes it. NaN lies in the
// last piece.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/algebra/expr.hpp"

namespace vphi::emit {

struct TableIndex {
  algebra::Expr of;     ///< a, or what `scale` multiplies
  algebra::Expr scale;  ///< a Number; empty: 1
  std::int64_t low = 0, high = 0;
};

/// What `expr` says, where it is min(max(floor(a), low), high) with whole numbers below 2^20.
std::optional<TableIndex> table_index_of(algebra::Expr expr);

/// Whether `expr` is made of places and whole numbers by sums and products alone.
bool is_index(algebra::Expr expr);

}  // namespace vphi::emit
