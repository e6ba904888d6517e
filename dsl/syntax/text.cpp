#include "dsl/syntax/text.hpp"

#include <algorithm>

#include "dsl/syntax/unicode.hpp"

namespace vphi::dsl {

Span cover(Span a, Span b) {
  if (a.empty() && a.begin == 0) return b;
  if (b.empty() && b.begin == 0) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end), a.file};
}

Source::Source(std::string name, std::string text, std::uint16_t file)
    : name_(std::move(name)), text_(std::move(text)), file_(file) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    // "\n", "\r\n" and a lone "\r" end a line.
    const bool ends =
        text_[i] == '\n' || (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n'));
    if (ends) line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

std::string_view Source::at(Span span) const {
  const auto size = static_cast<std::uint32_t>(text_.size());
  const auto begin = std::min(span.begin, size);
  const auto end = std::clamp(span.end, begin, size);
  return std::string_view(text_).substr(begin, end - begin);
}

Position Source::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto start = *(next - 1);
  Position position;
  position.line = static_cast<int>(next - line_starts_.begin());
  for (std::size_t i = start; i < offset; i += static_cast<std::size_t>(decode(text_, i).bytes)) {
    ++position.column;
  }
  return position;
}

std::string_view Source::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  const auto index = static_cast<std::size_t>(number - 1);
  const std::size_t begin = line_starts_[index];
  std::size_t end = index + 1 < line_starts_.size() ? line_starts_[index + 1] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace vphi::dsl
