// Local names in the evaluation of a text: arguments, indices, open names.
#pragma once

#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

/// f applied to each part.
Numbers each(const Numbers& a, const std::function<Complex(Complex)>& f);

/// The meaning of a local name: a text with its scope, a number, an index, or a function of the
/// place.
struct Written::Local {
  const dsl::Expr* text = nullptr;
  const Scope* scope = nullptr;
  std::optional<Numbers> fixed;
  std::optional<Index> index;
  std::function<Numbers(const Place&)> of_place;
  mutable Remembered known;  ///< values of the text
};

/// While it exists another state holds, and what was remembered before is not read. State 0
/// remembers nothing; `root` has the names that definitions see.
class Written::OtherState {
 public:
  OtherState(Written& text, unsigned long state, const Scope* root)
      : text_(text), state_(text.state_), root_(text.root_) {
    text.state_ = state;
    text.root_ = root;
  }
  ~OtherState() {
    text_.state_ = state_;
    text_.root_ = root_;
  }
  OtherState(const OtherState&) = delete;
  OtherState& operator=(const OtherState&) = delete;

 private:
  Written& text_;
  unsigned long state_;
  const Scope* root_;
};

/// Local names, innermost first; `dynamic` ones are visible in the model's definitions as well.
struct Written::Scope {
  const Scope* parent = nullptr;
  std::map<std::string, Local> names;
  bool dynamic = false;

  const Local* find(const std::string& name) const {
    for (const Scope* s = this; s; s = s->parent)
      if (const auto it = s->names.find(name); it != s->names.end()) return &it->second;
    return nullptr;
  }
  /// Whether the name is visible in the model's definitions.
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
  /// Whether a name, or its text, is an index over directions.
  bool runs_over_directions(const dsl::Expr& e) const {
    if (e.kind == dsl::ExprKind::Unary && e.text == "-") return runs_over_directions(*e.args[0]);
    const Local* local = e.kind == dsl::ExprKind::Name ? find(e.text) : nullptr;
    if (!local) return false;
    if (local->index) return local->index->kind == Index::Kind::Direction;
    return local->text && local->scope->runs_over_directions(*local->text);
  }
};

}  // namespace vphi::tools
