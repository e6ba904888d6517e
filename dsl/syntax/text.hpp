// Source text and positions in it.
//
// A `Source` owns the bytes of one model file (or of one library file) and knows where its lines
// begin. A `Span` is a half-open byte range of one source; every token, syntax node, expression and
// diagnostic carries one, so that a cost, a warning or a NaN can name the line of the model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::dsl {

/// Half-open byte range [begin, end) in the source number `file` (0 is the user's model).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint16_t file = 0;

  bool empty() const { return end <= begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both; `a` and `b` must lie in the same file.
Span cover(Span a, Span b);

/// Line and column, both from 1; the column counts Unicode code points.
struct Position {
  int line = 1;
  int column = 1;
};

class Source {
 public:
  Source(std::string name, std::string text, std::uint16_t file = 0);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::uint16_t file() const { return file_; }
  std::string_view at(Span span) const;
  Position position(std::uint32_t offset) const;
  /// Line `number` (from 1) without its end-of-line characters.
  std::string_view line(int number) const;
  int line_count() const { return static_cast<int>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::uint16_t file_;
  std::vector<std::uint32_t> line_starts_;
};

}  // namespace vphi::dsl
