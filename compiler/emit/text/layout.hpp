// How text lies on the page: lines of 100 columns, indented, with a blank line at most between
// them.
//
// Breaking a wide line is the one thing for which text that is finished is looked at: it moves
// blanks and ends of lines, and what the text says stays. Nothing here can fail.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vphi::emit {

/// Calls `each` with every line, without its end.
template <class Each>
void for_lines(std::string_view text, Each each) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    each(text.substr(at, end - at));
    at = end + 1;
  }
}

/// `head = value;`, broken after an operator where it is wider than 100 columns.
std::string declaration(const std::string& head, const std::string& value);
/// With one blank line where there were more, and lines of code of 100 columns at most.
std::string laid_out(std::string_view source);
/// `text` with `spaces` blanks before each non-empty line.
std::string indented(std::string_view text, int spaces);
/// User's text as `//` comment lines: ASCII only, no continuation, no trigraphs, 100 columns.
std::string comment_lines(std::string_view text);

}  // namespace vphi::emit
