#include "compiler/physics/lower/open_names.hpp"

#include "compiler/algebra/transform.hpp"

namespace vphi::physics {

namespace {

/// Whether a local name that is visible in `scope` has a value that holds `symbol`.
bool seen(const Scope& scope, Expr symbol) {
  for (const Scope* s = &scope; s; s = s->parent)
    for (const auto& [name, value] : s->values)
      for (const Component& c : value.parts)
        for (const Expr part : {c.re, c.im})
          if (part && algebra::depends_on(part, symbol)) return true;
  return false;
}

}  // namespace

Expr open_symbol(Arena& arena, const Scope& scope, std::string name, dsl::Span span) {
  while (seen(scope, arena.symbol(name, span))) name += " again";
  return arena.symbol(name, span);
}

}  // namespace vphi::physics
