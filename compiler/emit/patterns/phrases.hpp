// The sequence of the kernels of a step, with repetitions as loops.
//
// Stages of one name are one kernel. The compilation time of some compilers grows faster than the
// length of the text. Where a step has many stages, a sequence that repeats is therefore emitted as
// a loop.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/text/code.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

/// `length` stages from `begin` on, executed `times` times.
struct Phrase {
  std::size_t begin = 0, length = 1, times = 1;
};

/// A step's stages in order, as single stages and, where there are many, as loops.
std::vector<Phrase> phrases_of(const std::vector<kernel::Kernel>& stages);
/// Number of stages in the emitted text.
std::size_t written_stages(const std::vector<kernel::Kernel>& stages);
/// The first stage that is the same kernel.
std::size_t first_like(const std::vector<kernel::Kernel>& stages, std::size_t i);

/// Text of all stages; `text(i)` is that of stage i.
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
