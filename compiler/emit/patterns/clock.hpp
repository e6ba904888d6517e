// The clock of many instances as text: it advances the common slots and makes the row of values
// that a step reads (kernel/common_values.hpp).
//
//   vphi_tick_K(clock)              one step on; nothing where the instances stand still
//   vphi_row_K(clock, row, wide)    values of the step that begins now: `row` for the site, in its
//                                   precision, `wide` for the epilogue
// `clock` holds the slots of Shared::slots in their order. All in f64.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/common_values.hpp"

namespace vphi::emit {

/// The functions, and the indices into the clock that vphi_row_K reads, in the order of its text.
struct Clock {
  Code text;
  std::vector<int> row_reads;
};
Clock clock_functions(const kernel::Shared& shared, const std::string& still,
                      const std::string& suffix, Precision real, const Dialect& dialect);

}  // namespace vphi::emit
