#include "dsl/syntax/unicode.hpp"

#include <algorithm>
#include <array>

namespace vphi::dsl {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range r) { return c >= r.first && c <= r.last; });
}

// Letters of the scripts that formulas use, and letter-like symbols.
constexpr std::array<Range, 13> kLetters{{
    {0xAA, 0xAA},
    {0xB5, 0xB5},
    {0xBA, 0xBA},
    {0xC0, 0xD6},
    {0xD8, 0xF6},
    {0xF8, 0x2AF},
    {0x370, 0x373},
    {0x376, 0x37D},
    {0x386, 0x3FF},
    {0x400, 0x481},
    {0x48A, 0x52F},
    {0x1E00, 0x1FFF},
    {0x2100, 0x214F},
}};
constexpr std::array<Range, 3> kOperatorLetters{
    {{0x2202, 0x2202}, {0x2206, 0x2207}, {0x5D0, 0x5EA}}};
constexpr std::array<Range, 3> kSubscripts{{{0x2080, 0x2089}, {0x1D62, 0x1D6A}, {0x2090, 0x209C}}};
constexpr std::array<Range, 6> kCombining{{
    {0x300, 0x36F},
    {0x483, 0x489},
    {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF},
    {0x200B, 0x200F},
    {0xFE00, 0xFE0F},
}};
constexpr std::array<Range, 9> kWide{{
    {0x1100, 0x115F},
    {0x2E80, 0x303E},
    {0x3041, 0xA4CF},
    {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},
    {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};

}  // namespace

CodePoint decode(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(offset);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1};
  int extra = 0;
  char32_t value = 0, smallest = 0;
  if ((lead & 0xE0) == 0xC0) {
    extra = 1, value = lead & 0x1F, smallest = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    extra = 2, value = lead & 0x0F, smallest = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    extra = 3, value = lead & 0x07, smallest = 0x10000;
  } else {
    return {kMalformed, 1};
  }
  for (int i = 1; i <= extra; ++i) {
    const unsigned next = byte(offset + static_cast<std::size_t>(i));
    if ((next & 0xC0) != 0x80) return {kMalformed, 1};
    value = (value << 6) | (next & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || surrogate || value > 0x10FFFF) return {kMalformed, 1};
  return {value, extra + 1};
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

bool is_name_start(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return c != kMalformed && (within(kLetters, c) || within(kOperatorLetters, c));
}

bool is_name_part(char32_t c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || (c != kMalformed && within(kSubscripts, c));
}

int column_width(char32_t c) {
  if (c < 0x300 || c == kMalformed) return 1;
  if (within(kCombining, c)) return 0;
  return within(kWide, c) ? 2 : 1;
}

}  // namespace vphi::dsl
