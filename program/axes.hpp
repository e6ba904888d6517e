// Ensemble numbers of many instances, and the memory order of their scalars.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.hpp"

namespace vphi::program {

/// Program::ensemble_number for many instances: what depends on the axes alone is computed once, in
/// the constructor. Keeps a reference to the program, which must outlive this object.
class EnsembleNumbers {
 public:
  explicit EnsembleNumbers(const Program& program);
  std::int64_t operator()(std::int64_t instance) const;

 private:
  const Program& program_;
  std::vector<bool> by_value_;       ///< for each axis: the values themselves number the draws
  std::vector<std::int64_t> radix_;  ///< for each axis: how many numbers it can give
};

/// True where the kernels take the scalars as [slot][instance], not as [instance][slot]. The
/// `index` of the argument of kind Scalars is then 1.
bool scalars_by_slot(const Program& program);

/// The swept values of an instance with every digit, "b = 7, event = 3": distinct for values that
/// differ. Program::where is the same for messages.
std::string instance_label(const Program& program, std::int64_t instance);

}  // namespace vphi::program
