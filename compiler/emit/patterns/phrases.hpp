// The kernels of a step in a row, and those that repeat as a loop.
//
// Stages of one name are one kernel. A compiler's time grows with what is written down, in some
// faster than in proportion: where a step has many stages, runs of them that repeat are one loop.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// Stages from `begin` on, `length` of them, gone through `times` times.
struct Phrase {
  std::size_t begin = 0, length = 1, times = 1;
};

/// A step's stages in order: what stands in a row, and what repeats where the row is long.
std::vector<Phrase> phrases_of(const std::vector<kernel::Kernel>& stages);
/// Stages that are written down.
std::size_t written_stages(const std::vector<kernel::Kernel>& stages);
/// The first stage that does the same.
std::size_t first_like(const std::vector<kernel::Kernel>& stages, std::size_t i);

/// Text of all stages, `text(i)` that of one.
template <class Text>
Code in_phrases(const std::vector<kernel::Kernel>& stages, const Code& loop, const Text& text) {
  Code all;
  for (const Phrase& phrase : phrases_of(stages)) {
    Code part;
    for (std::size_t i = 0; i < phrase.length; ++i) part += text(phrase.begin + i);
    if (phrase.times > 1)
      part = code("{}for (unsigned turn = 0u; turn < {}u; ++turn) {{\n{}}}\n", loop, phrase.times,
                  indent(part, 2));
    all += part;
  }
  return all;
}

}  // namespace vphi::emit
