// Random numbers in emitted code: Philox and Box-Muller as kernel/draw.hpp defines them.
//
// A site's draws are members of its `in` struct; a pattern writes `draw_functions` at file scope,
// `draw_start` once before its loops, and `draw_lines` where it fills `in`. On NVIDIA in f32 the
// logarithm, sine and cosine are the fast ones of the device: their error, 2^-21, is far below what
// a histogram of any ensemble resolves.
#pragma once

#include <string>

#include "compiler/emit/frame.hpp"

namespace vphi::emit {

std::string draw_functions(const Job& job);
/// `instance`: text of the number of the instance in this launch.
std::string draw_start(const Job& job, const Bindings& bindings, const std::string& instance);
/// `site`: text of the index of the site within its instance.
std::string draw_lines(const Job& job, const std::string& site);

}  // namespace vphi::emit
