// How many numbers of a site a GPU's thread holds at a time, with the operations in the order in
// which they were written.
#pragma once

#include <cstddef>
#include <set>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/numerics.hpp"

namespace vphi::schedule {

/// Numbers, as counted by LiveValues, for which NVIDIA's compiler finds an order that spills next
/// to nothing. `registers`: of a thread.
int numbers_that_fit(physics::Precision precision, int registers);

/// What a list of values that are computed together holds at a time. A value that is read is held
/// from its first use on, others from where they are computed.
class LiveValues {
 public:
  /// `own`: arrays that differ from column to column, where a kernel computes several columns.
  explicit LiveValues(const std::vector<algebra::Expr>& values, const std::set<int>& own = {});

  int most(int columns = 1) const;

 private:
  struct Life {
    std::size_t first = 0, last = 0;
    bool own = false;  ///< differs from column to column
  };
  std::unordered_map<const algebra::Node*, Life> lives_;
  std::size_t count_ = 0;
};

}  // namespace vphi::schedule
