#include "dsl/messages/suggest.hpp"

#include <algorithm>
#include <cctype>

namespace vphi::dsl {

namespace {

constexpr int kEdit = 4;
constexpr int kCase = 1;

int replace_cost(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? kCase : kEdit;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Longer words are never suggested, and a quadratic table of megabytes must not be built.
  constexpr std::size_t kLongest = 64;
  if (a.size() > kLongest || b.size() > kLongest) return kEdit * static_cast<int>(kLongest);
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = kEdit * static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = kEdit * static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + kEdit, cost[i][j - 1] + kEdit,
                             cost[i - 1][j - 1] + replace_cost(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + kEdit);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::optional<std::string> suggest(std::string_view wrong, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  int least = std::min(2 * kEdit, std::max(kEdit, kEdit * static_cast<int>(wrong.size()) / 3)) + 1;
  for (const std::string& name : known) {
    // A name of one or two letters is near to every other such name: only its case may differ.
    const bool tiny = wrong.size() <= 2 || name.size() <= 2;
    const std::size_t length_difference =
        wrong.size() > name.size() ? wrong.size() - name.size() : name.size() - wrong.size();
    if (kEdit * static_cast<int>(std::min<std::size_t>(length_difference, 100)) >= least) continue;
    const int distance = edit_distance(wrong, name);
    if (distance == 0 || distance >= least) continue;
    if (tiny && (distance >= kEdit && std::max(wrong.size(), name.size()) < 3)) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string enumerate(const std::vector<std::string>& names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + std::string(last) + " " : ", ";
    text += "`" + names[i] + "`";
  }
  return text;
}

}  // namespace vphi::dsl
