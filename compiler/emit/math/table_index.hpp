// Positions in tables on NVIDIA's GPUs: the number of a piece as an integer.
//
// The piece of a table that an argument lies in is a TableIndex: min(max(floor(a), low), high). In
// floating point this takes a rounding and, for the address, a conversion. Both run on the unit
// that computes quotients and roots, at a quarter of the rate or less. In f32 one addition of
// 1.5*2^23 that rounds down leaves floor(a) in the last bits. The bits of such sums, read as
// integers, are ordered as the numbers, so the bounds are an integer minimum and maximum. The
// difference of the bits from those of 1.5*2^23 is the number of the piece. A position is stored as
// this integer (vphi_place_f32, and vphi_place_of_f32 for a product that is not rounded first); in
// f64 it is made by a conversion. NaN gives the last piece.
#pragma once

#include "compiler/algebra/expr.hpp"

namespace vphi::emit {

/// Whether `expr` consists of such positions and integers, combined by sums and products.
bool is_index(algebra::Expr expr);

}  // namespace vphi::emit
