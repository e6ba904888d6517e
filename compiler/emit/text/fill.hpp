// Templates: text files with slots, from the folder templates/, embedded in the program.
//
// A slot is written @name@. A slot alone on its line takes any number of lines, each indented as
// the slot was, and the line disappears when the text is empty. A slot inside a line takes one
// line. An unknown slot or template is an error in the compiler: std::logic_error.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/emit/text/code.hpp"
#include "compiler/emit/text/layout.hpp"

namespace vphi::emit {

using Slots = std::map<std::string, Code, std::less<>>;

/// The template called `name` (file name) with its slots replaced.
Code fill(std::string_view name, const Slots& slots);
/// The same for a text that is given.
Code fill_text(std::string_view text, const Slots& slots);

}  // namespace vphi::emit
