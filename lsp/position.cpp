#include "lsp/position.hpp"

#include <algorithm>

#include "dsl/syntax/unicode.hpp"

namespace vphi::lsp {

namespace {

std::uint32_t units(char32_t c) { return c != dsl::kMalformed && c > 0xFFFF ? 2 : 1; }

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends =
        text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (ends) starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

std::uint32_t LineIndex::offset(Place place) const {
  const auto size = static_cast<std::uint32_t>(text_.size());
  if (place.line >= starts_.size()) return size;
  std::uint32_t at = starts_[place.line];
  std::uint32_t column = 0;
  while (at < size && text_[at] != '\n' && text_[at] != '\r') {
    const auto [c, bytes] = dsl::decode(text_, at);
    column += units(c);
    if (column > place.character) break;
    at += static_cast<std::uint32_t>(bytes);
  }
  return at;
}

Place LineIndex::place(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  Place place;
  place.line = static_cast<std::uint32_t>(next - starts_.begin() - 1);
  for (std::uint32_t i = *(next - 1); i < offset;) {
    const auto [c, bytes] = dsl::decode(text_, i);
    place.character += units(c);
    i += static_cast<std::uint32_t>(bytes);
  }
  return place;
}

}  // namespace vphi::lsp
