#include "dsl/families.hpp"

namespace vphi::dsl {

void find_later_families(Resolved& resolved) {
  std::vector<std::string>& later = resolved.later_families;
  const auto add = [&](bool used, const char* sentence) {
    if (used) later.emplace_back(sentence);
  };
  const auto has = [&](const char* keyword) { return resolved.clause(keyword) != nullptr; };
  add(has("gauge"), "Gauge links (`gauge`) do not run yet.");
  add(has("fermion"), "Fermions (`fermion`) do not run yet.");
  add(has("sample") || has("action"), "Markov chains (`sample`, `action`) do not run yet.");
}

}  // namespace vphi::dsl
