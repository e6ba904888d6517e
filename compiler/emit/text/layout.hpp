// Layout of emitted text: lines of at most 100 columns, indented, with at most one blank line
// between them.
//
// These functions change only blanks and ends of lines. Breaking wide lines is the only operation
// that reads finished text. Nothing here can fail.
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
/// The text with at most one blank line in a row, and lines of code of at most 100 columns.
std::string laid_out(std::string_view source);
/// `text` with `spaces` blanks before each non-empty line.
std::string indented(std::string_view text, int spaces);
/// Text of the model as `//` comment lines: ASCII only, no continuation, no trigraphs, 100 columns.
std::string comment_lines(std::string_view text);

}  // namespace vphi::emit
