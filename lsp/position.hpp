// Places in a document as the protocol counts them: line from 0, column in UTF-16 units.
//
// The compiler counts bytes. Both directions are total: a place beyond a line's end is the end of
// that line, a place beyond the text is its end, and malformed bytes count one unit each.
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

/// Where the lines of a text begin; keeps no copy of the text.
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
