// Pieces of a table written in its arguments: a + b*x, a + b*x + y*(c + d*x), or a cubic in x.
//
// Where every piece is as accurate in the arguments themselves as in the distances from its start,
// these distances need not be computed. If the value outside has the same form, it is a
// further piece at each end (in two arguments a frame of cells): there is no comparison and no
// select, and arguments are not moved inside.
#pragma once

#include <optional>
#include <vector>

#include "compiler/physics/tables/tables.hpp"

namespace vphi::physics {

/// Cells of four numbers each that the text of a kernel may hold.
inline constexpr std::size_t kMostCells = 1 << 16;

/// The function with lines, planes or cubics (order 1 or 3) between the arguments of the table, in
/// that form; nothing where the arguments are not equally spaced, where what lies outside has
/// another form, or where a piece would lose digits (its terms, or those of the slope of a cubic,
/// are more than four times what they add up to). `real`: of the arithmetic; the first and the last
/// argument are then inside.
std::optional<Expr> in_arguments(Arena& arena, const TableData& table,
                                 const std::vector<Expr>& arguments, int order,
                                 const std::vector<Outside>& outside, Precision real);

/// Whether the arguments are equally spaced, to a part in 10^9 of the spacing.
bool equally_spaced(const std::vector<double>& axis);

}  // namespace vphi::physics
