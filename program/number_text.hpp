// Lines of numbers in text files: tables, starts of fields, matrices.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace vphi::program {

/// Between numbers of a line.
inline constexpr const char* kSeparators = " \t\r,;";

/// What stands between separators.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t end = 0; end < line.size();) {
    const std::size_t begin = line.find_first_not_of(kSeparators, end);
    if (begin == std::string::npos) break;
    end = std::min(line.find_first_of(kSeparators, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
  }
  return words;
}

/// The double that is nearest to the number in `word`: 0 below the smallest, infinite above the
/// largest. Nothing where it is no number.
inline std::optional<double> number_in(const std::string& word) {
  double value = 0;
  const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument) return {};
  return error == std::errc() ? value : std::strtod(begin, nullptr);
}

/// Removes what is no number of line `number` (from 1): a comment from # on, and the mark that some
/// editors put in front of UTF-8.
inline void keep_numbers(std::string& line, int number) {
  if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
  if (const auto comment = line.find('#'); comment != std::string::npos) line.erase(comment);
}

}  // namespace vphi::program
