#include "dsl/families.hpp"

#include <algorithm>

#include "dsl/walk.hpp"

namespace vphi::dsl {

namespace {

bool uses_noise(const Resolved& resolved) {
  if (resolved.find("noise") != nullptr) return false;  // the model's own name
  bool found = false;
  for (const Line& line : resolved.model.lines) {
    if (line.kind == Line::Kind::Clause) continue;
    for_each(line, [&](const Expr& expr) {
      found = found || (expr.kind == ExprKind::Name && expr.text == "noise");
    });
  }
  return found;
}

}  // namespace

void find_later_families(Resolved& resolved) {
  std::vector<std::string>& later = resolved.later_families;
  const auto add = [&](bool used, const char* sentence) {
    if (used) later.emplace_back(sentence);
  };
  const auto has = [&](const char* keyword) { return resolved.clause(keyword) != nullptr; };
  add(uses_noise(resolved), "Equations with `noise` do not run yet.");
  add(has("particles"), "Models with `particles` do not run yet.");
  add(has("conserve") || has("primitive"), "Conservation laws (`conserve`) do not run yet.");
  add(has("gauge"), "Gauge links (`gauge`) do not run yet.");
  add(has("fermion"), "Fermions (`fermion`) do not run yet.");
  add(has("sample") || has("action"), "Markov chains (`sample`, `action`) do not run yet.");
}

}  // namespace vphi::dsl
