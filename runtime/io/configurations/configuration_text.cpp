#include "runtime/io/configurations/configuration_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace vphi::io {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

template <class Number, class... Base>
std::optional<Number> number(std::string_view text, Base... base) {
  text = trimmed(text);
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, value, base...);
  if (text.empty() || wrong != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  return number<std::int64_t>(text);
}

std::optional<double> real_number(std::string_view text) {
  const auto value = number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return number<std::uint32_t>(text, 16);
}

std::vector<std::pair<std::string, std::string>> name_value_lines(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) continue;
    lines.emplace_back(trimmed(line.substr(0, equal)), trimmed(line.substr(equal + 1)));
  }
  return lines;
}

std::optional<std::string> xml_element(std::string_view document, std::string_view name) {
  std::optional<std::size_t> begin;
  for (std::size_t at = 0; (at = document.find('<', at)) != std::string_view::npos;) {
    const std::string_view rest = document.substr(at);
    if (rest.starts_with("<!--")) {
      const std::size_t end = rest.find("-->");
      if (end == std::string_view::npos) return std::nullopt;
      at += end + 3;
      continue;
    }
    const std::size_t close = rest.find('>');
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view tag = rest.substr(1, close - 1);
    const bool ends = tag.starts_with('/');
    if (ends) tag.remove_prefix(1);
    tag = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const std::size_t colon = tag.find(':');  // the name space's prefix
    if (colon != std::string_view::npos) tag.remove_prefix(colon + 1);
    if (tag == name) {
      if (ends && begin) return std::string(document.substr(*begin, at - *begin));
      if (!ends) begin = at + close + 1;
    }
    at += close + 1;
  }
  return std::nullopt;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

}  // namespace vphi::io
