// Conditions of `until` with averages over a sweep, such as error(mean(x, over = path)) < 1e-3.
//
// Kernels see one instance, so the runtime evaluates these conditions. They are stored behind the
// expectations and recognised by their text, which begins with `until`. A condition of this kind is
// not an expectation: the run ends when it holds at every place of the remaining axes
// (runtime/run/ensemble.hpp).
#pragma once

#include <string_view>

#include "program/program.hpp"

namespace vphi::program {

inline constexpr std::string_view kStopCriterion = "until ";

inline bool is_stop_criterion(const Expectation& e) {
  return e.at_end && e.text.starts_with(kStopCriterion);
}

}  // namespace vphi::program
