// Random numbers in emitted code: Philox and Box-Muller as kernel/draw.hpp defines them.
//
// A site's draws are members of its `in` struct; a pattern writes `draw_functions` at file scope,
// `draw_start` once before its loops, and `draw_lines` where it fills `in`. On NVIDIA in f32 the
// logarithm, sine and cosine are the fast ones of the device: their error, 2^-21, is far below what
// a histogram of any ensemble resolves.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

Code draw_functions(const Job& job);
/// `instance`: text of the number of the instance in this launch.
Code draw_start(const Job& job, const Bindings& bindings, const Code& instance);
/// Its two halves, with the scalars in the array called `scalars`: the instance's place among all
/// walkers, and the step's among its words. `aligned`: the step is the first of a block's.
Code draw_walker(const Job& job, const Bindings& bindings, const Code& instance,
                 const Code& scalars);
Code draw_word(const Job& job, const Bindings& bindings, const Code& scalars, bool aligned);
/// The second half where the number of the step is the text `step`, of the widest integer type.
Code draw_word_at(const Job& job, const Code& step, bool aligned);
const char* widest_integer(const Job& job);
/// Whether a path keeps a state, `unsigned noise_state`, through the steps of a run: of xorshift,
/// or the bits of a word (kernel::steps_of_run). `draw_state` sets it before the step with the
/// number `step`, anywhere in a run.
bool keeps_state(const Job& job);
Code draw_state(const Job& job, const Code& step);
/// The same for bits, as a declaration; the block of four runs is kept in `words` and made where
/// `fresh` holds or the first of them begins. `step`: of the run's first, in full, and modulo 128.
Code draw_run(const Job& job, const Code& low, const Code& step, const Code& fresh,
              const Code& words);
/// The numbers of all `steps` that share a block, and those of step `k` of them. `state`: from the
/// state that is kept, which goes on.
Code shared_draws(const Job& job, bool state, std::int64_t steps);
Code draws_of_step(const Job& job, std::int64_t k);
/// `site`: text of the index of the site within its instance.
Code draw_lines(const Job& job, const Code& site);
/// The same piece by piece: what all share, then the lines of each draw behind those before it.
std::vector<Code> draw_pieces(const Job& job, const Code& site);
/// The numbers of `strip` sites side by side, a multiple of those that share a block
/// (kernel::sites_of_block); `strip_number`: text of the number of the strip. Each block and each
/// pair of Gaussians is made once. Then those of site `k` of them.
Code strip_draws(const Job& job, const Code& strip_number, int strip);
Code strip_draw_lines(const Job& job, const Code& k = "k");
/// Whether `strip_draws` can make the numbers of `strip` sites side by side together: whole blocks,
/// or a half of one.
bool draws_of_strip(const Job& job, int strip);

}  // namespace vphi::emit
