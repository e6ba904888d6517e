// Pieces of a table as polynomials of its arguments: a + b*x, a + b*x + y*(c + d*x), or a cubic in
// x.
//
// Usually a piece is a polynomial of the distance from its first argument. Where every piece is as
// accurate as a polynomial of the argument itself, the distance need not be computed. If the value
// outside has the same form, it is a further piece at each end (for two arguments a frame of
// cells). Then no comparison, select or clamping is needed.
#pragma once

#include <optional>
#include <vector>

#include "compiler/physics/tables/tables.hpp"

namespace vphi::physics {

/// Largest number of cells, of four numbers each, in the text of a kernel.
inline constexpr std::size_t kMostCells = 1 << 16;

/// The function with lines, planes or cubics (order 1 or 3) between the arguments of the table, in
/// that form; nothing where the arguments are not equally spaced, where the function outside has
/// another form, or where a piece would lose digits (a term, or one of the slope of a cubic, is
/// more than four times the sum). `real`: the precision of the arithmetic, in which the first and
/// the last argument must be inside.
std::optional<Expr> in_arguments(Arena& arena, const TableData& table,
                                 const std::vector<Expr>& arguments, int order,
                                 const std::vector<Outside>& outside, Precision real);

/// Whether the arguments are equally spaced, to a part in 10^9 of the spacing.
bool equally_spaced(const std::vector<double>& axis);

}  // namespace vphi::physics
