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
/// The statements before the loops. `instance`: text of the number of the instance in this launch.
Code draw_start(const Job& job, const Bindings& bindings, const Code& instance);
/// The two parts of draw_start, with the scalars in the array `scalars`: the first walker of the
/// instance, and the first word of the step. `aligned`: the step is the first of those that share a
/// block.
Code draw_walker(const Job& job, const Bindings& bindings, const Code& instance,
                 const Code& scalars);
Code draw_word(const Job& job, const Bindings& bindings, const Code& scalars, bool aligned);
/// The second part for a step whose number is the text `step`, of the widest integer type.
Code draw_word_at(const Job& job, const Code& step, bool aligned);
const char* widest_integer(const Job& job);
/// Whether an instance keeps a state, `unsigned noise_state`, through the steps of a run: that of
/// xorshift, or the bits of a word (kernel::steps_of_run). `draw_state` sets it for the step number
/// `step`, at any place of a run.
bool keeps_state(const Job& job);
Code draw_state(const Job& job, const Code& step);
/// The same for bits, as a declaration. The block with the words of four runs is kept in `words`,
/// and is computed where `fresh` holds or the first of these runs begins. `step`: number of the
/// run's first step; `low`: the same in 32 bits.
Code draw_run(const Job& job, const Code& low, const Code& step, const Code& fresh,
              const Code& words);
/// The numbers of all `steps` that share a block, and those of step `k` of them. `state`: they come
/// from the state, which advances.
Code shared_draws(const Job& job, bool state, std::int64_t steps);
Code draws_of_step(const Job& job, std::int64_t k);
/// Of a lattice that is cut along two axes, in a loop over rows: what the number of a site of the
/// row is in the whole lattice, less its place in memory. `row`: text of its number among those
/// that are walked. Nothing elsewhere.
Code sites_before_row(const Job& job, const Code& row);
/// The same of a site whose coordinates in memory are known by the names of the axes.
Code sites_before_place(const Job& job);
/// `site`: text of the index of the site within its instance.
Code draw_lines(const Job& job, const Code& site);
/// The same in pieces: the lines that all draws share, then the lines of each draw.
std::vector<Code> draw_pieces(const Job& job, const Code& site);
/// The same where other sites have the same blocks (kernel::sites_of_block): their walker, the
/// blocks of `walker`, and the numbers of one of these sites; `number`: which one, where the text
/// knows, else empty.
Code walker_of_site(const Job& job, const Code& site);
Code blocks_of_walker(const Job& job);
Code draw_lines_of_blocks(const Job& job, const Code& site, const Code& number);
/// The numbers of `strip` sites side by side, a multiple of those that share a block
/// (kernel::sites_of_block); `strip_number`: text of the number of the strip. Each block and each
/// pair of Gaussians is computed once. `strip_draw_lines`: those of site `k` of the strip.
Code strip_draws(const Job& job, const Code& strip_number, int strip);
Code strip_draw_lines(const Job& job, const Code& k = "k");
/// Whether `strip_draws` can compute the numbers of `strip` adjacent sites together: they need
/// whole blocks, or half of one.
bool draws_of_strip(const Job& job, int strip);

}  // namespace vphi::emit
