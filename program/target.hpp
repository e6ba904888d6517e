// Conditions of `until` with averages over a sweep, such as error(mean(x, over = path)) < 1e-3.
//
// No kernel can judge them, so they are kept among the expectations, to be judged at the end, after
// all others; their text begins with `until`, which no promise can. They are not promises: the
// runtime ends the run when one of them holds everywhere (runtime/run/ensemble.hpp).
#pragma once

#include <string_view>

#include "program/program.hpp"

namespace vphi::program {

inline constexpr std::string_view kTarget = "until ";

inline bool is_target(const Expectation& e) { return e.at_end && e.text.starts_with(kTarget); }

}  // namespace vphi::program
