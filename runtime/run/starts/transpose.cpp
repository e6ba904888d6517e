#include "runtime/run/starts/transpose.hpp"

#include <algorithm>

#include "runtime/device/native/parallel.hpp"

namespace vphi::runtime {
namespace {

// Edge of a square of numbers that stays in the first cache while it is read by rows and written by
// columns.
constexpr std::size_t kEdge = 32;
constexpr std::size_t kOfThread = std::size_t{1}
                                  << 16;  // numbers from which on a further thread is used

}  // namespace

void transpose(std::span<const double> from, std::size_t rows, std::size_t columns,
               std::span<double> to, int threads) {
  if (rows == 0 || columns == 0) return;
  const bool tall = rows > columns;  // shares of the longer side
  const std::size_t length = tall ? rows : columns;
  const std::size_t shares = std::clamp<std::size_t>(
      rows * columns / kOfThread, 1, static_cast<std::size_t>(std::max(1, threads)));
  const auto share = [&](int number) {
    const auto at = [&](std::size_t k) { return length * k / shares; };
    const std::size_t begin = at(static_cast<std::size_t>(number)),
                      end = at(static_cast<std::size_t>(number) + 1);
    const std::size_t first_row = tall ? begin : 0, last_row = tall ? end : rows;
    const std::size_t first_column = tall ? 0 : begin, last_column = tall ? columns : end;
    for (std::size_t r = first_row; r < last_row; r += kEdge)
      for (std::size_t c = first_column; c < last_column; c += kEdge)
        for (std::size_t i = r; i < std::min(r + kEdge, last_row); ++i)
          for (std::size_t j = c; j < std::min(c + kEdge, last_column); ++j)
            to[j * rows + i] = from[i * columns + j];
  };
  parallel_for(static_cast<int>(shares), static_cast<int>(shares), share);
}

}  // namespace vphi::runtime
