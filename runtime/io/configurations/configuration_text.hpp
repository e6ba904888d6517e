// Small texts in the headers of configurations: numbers, `name = value` lines, flat XML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vphi::io {

std::string_view trimmed(std::string_view text);
/// A text that is an integer; nothing where it is not, or where the number is too large.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<double> real_number(std::string_view text);
/// 32 bits in hexadecimal, any number of leading zeros, with or without 0x.
std::optional<std::uint32_t> hexadecimal(std::string_view text);

/// Lines `name = value` in their order; lines without `=` are ignored.
std::vector<std::pair<std::string, std::string>> name_value_lines(std::string_view text);

/// Text between <name ...> and </name>, the first in the document outside of comments. The formats
/// here are flat lists of elements, so nothing more of XML is needed.
std::optional<std::string> xml_element(std::string_view document, std::string_view name);
/// The text with XML's special characters as entities and control characters as spaces.
std::string xml_text(std::string_view text);

}  // namespace vphi::io
