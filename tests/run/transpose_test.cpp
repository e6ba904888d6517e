#include "runtime/run/starts/transpose.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

namespace vphi {
namespace {

TEST(Transpose, RowsAreColumns) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1},
                                      {1, 7},
                                      {7, 1},
                                      {31, 33},
                                      {64, 100},
                                      {5, 40000},
                                      {40000, 5}})
    for (const int threads : {1, 3}) {
      std::vector<double> from(rows * columns), to(rows * columns, -1);
      std::iota(from.begin(), from.end(), 0.0);
      runtime::transpose(from, rows, columns, to, threads);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
          ASSERT_EQ(to[c * rows + r], from[r * columns + c]) << rows << " x " << columns;
    }
}

}  // namespace
}  // namespace vphi
