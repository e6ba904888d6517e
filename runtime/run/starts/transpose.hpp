// Transposition of a matrix.
#pragma once

#include <span>

namespace vphi::runtime {

/// to[column][row] = from[row][column], on at most `threads` threads. Both have rows*columns
/// numbers and do not overlap.
void transpose(std::span<const double> from, std::size_t rows, std::size_t columns,
               std::span<double> to, int threads);

}  // namespace vphi::runtime
