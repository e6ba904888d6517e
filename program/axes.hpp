// The number of each instance in its ensemble, computed from the axes once for many instances, and
// the memory order of their scalars.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vphi::program {

/// Program::ensemble_number of one instance after the other. The program must outlive it.
class EnsembleNumbers {
 public:
  explicit EnsembleNumbers(const Program& program);
  std::int64_t operator()(std::int64_t instance) const;

 private:
  const Program& program_;
  std::vector<bool> by_value_;       ///< of each axis: draws are known by their values
  std::vector<std::int64_t> radix_;  ///< how many numbers it has room for
};

/// Whether the kernels have the scalars as [slot][instance] in place of [instance][slot]: the
/// `index` of their argument is 1 then.
bool scalars_by_slot(const Program& program);

}  // namespace vphi::program
