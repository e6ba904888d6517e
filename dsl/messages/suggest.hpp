// Finds the known name nearest to a mistyped one, for "did you mean".
//
// Distance is Damerau's (insert, delete, replace, swap of neighbours); letters that differ only in
// case count a quarter. A suggestion must be close: the distance is at most a third of the length
// and at most two edits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::dsl {

/// Edits between two words, times four (a change of case alone counts 1).
int edit_distance(std::string_view a, std::string_view b);

/// The nearest of `known`, the first of equally near ones; nothing where none is close.
std::optional<std::string> suggest(std::string_view wrong, const std::vector<std::string>& known);

/// "`a`, `b` and `c`".
std::string enumerate(const std::vector<std::string>& names, std::string_view last = "and");

}  // namespace vphi::dsl
