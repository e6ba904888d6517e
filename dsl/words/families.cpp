#include "dsl/words/families.hpp"

namespace vphi::dsl {

void find_later_families(Resolved& resolved) {
  std::vector<std::string>& later = resolved.later_families;
  const auto add = [&](bool used, const char* sentence) {
    if (used) later.emplace_back(sentence);
  };
  const auto has = [&](const char* keyword) { return resolved.clause(keyword) != nullptr; };
  add(has("action") && !has("sample"), "An action without `sample` does not run yet.");
}

}  // namespace vphi::dsl
