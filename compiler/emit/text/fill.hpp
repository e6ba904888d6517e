// Templates: text files with slots, from the folder templates/, embedded in the program.
//
// A slot is written @name@. A slot alone on its line takes any number of lines, each indented as
// the slot was, and the line disappears when the text is empty. A slot inside a line takes one
// line. An unknown slot or template is a mistake of ours: std::logic_error.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace vphi::emit {

using Slots = std::map<std::string, std::string, std::less<>>;

/// The template called `name` (file name) with its slots replaced.
std::string fill(std::string_view name, const Slots& slots);
/// The same for text at hand.
std::string fill_text(std::string_view text, const Slots& slots);

/// `text` with `spaces` blanks before each non-empty line.
std::string indent(std::string_view text, int spaces);
/// Without the VPHI_INLINE functions that nobody calls, and with one blank line where there were
/// more.
std::string prune(std::string source);
/// User's text as `//` comment lines: ASCII only, no continuation, no trigraphs, 100 columns.
std::string comment_lines(std::string_view text);

}  // namespace vphi::emit
