// Local names of tools/oracle/written_value.cpp and written_lattice.cpp: arguments, indices, names
// left open.
#pragma once

#include <algorithm>

#include "tools/oracle/written_value.hpp"

namespace vphi::tools {

/// What a local name stands for: text with the names it sees, a number, an index, or a function of
/// the place.
struct Written::Local {
  const dsl::Expr* text = nullptr;
  const Scope* scope = nullptr;
  std::optional<Numbers> fixed;
  std::optional<Index> index;
  std::function<Numbers(const Place&)> of_place;
};

/// Local names, innermost first; `dynamic` ones are seen by the model's definitions as well.
struct Written::Scope {
  const Scope* parent = nullptr;
  std::map<std::string, Local> names;
  bool dynamic = false;

  const Local* find(const std::string& name) const {
    for (const Scope* s = this; s; s = s->parent)
      if (const auto it = s->names.find(name); it != s->names.end()) return &it->second;
    return nullptr;
  }
  /// Whether the name is one that the model's definitions see.
  bool seen_by_definitions(const std::string& name) const {
    for (const Scope* s = this; s; s = s->parent)
      if (s->names.contains(name)) return s->dynamic;
    return false;
  }
  const Scope* dynamic_part() const {
    const Scope* s = this;
    while (s && !s->dynamic) s = s->parent;
    return s;
  }
  /// Whether a side of the comparison is an index that runs over directions.
  bool names_index(const dsl::Expr& comparison) const {
    return std::any_of(comparison.args.begin(), comparison.args.end(), [&](const auto& side) {
      const Local* local = side->kind == dsl::ExprKind::Name ? find(side->text) : nullptr;
      return local && local->index && local->index->kind == Index::Kind::Direction;
    });
  }
};

}  // namespace vphi::tools
