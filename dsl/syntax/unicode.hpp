// Unicode for model texts: decoding, letters of names, and the width of a character in a terminal.
// All functions accept any input: malformed bytes decode to `kMalformed` and take one byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vphi::dsl {

constexpr char32_t kMalformed = 0xFFFFFFFF;

struct CodePoint {
  char32_t value = 0;
  int bytes = 1;
};

/// The code point that begins at `offset` (< text.size()); rejects overlong forms and surrogates.
CodePoint decode(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t value);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char32_t c);  ///< letters, `_`, and the signs for d and grad
bool is_name_part(char32_t c);   ///< the same, digits and subscript digits
int column_width(char32_t c);    ///< 0 for combining marks, 2 for wide East Asian, else 1

}  // namespace vphi::dsl
