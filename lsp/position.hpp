// Converts positions in a document between the protocol (line from 0, column in UTF-16 units) and
// bytes.
//
// Every input is accepted: a position beyond the end of a line is its end, a position beyond the
// text is the end of the text, and malformed bytes count one unit each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dsl/syntax/text.hpp"

namespace vphi::lsp {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// The offsets of the lines of a text; it does not copy the text.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  std::uint32_t offset(Place place) const;
  Place place(std::uint32_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace vphi::lsp
