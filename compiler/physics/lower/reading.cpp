#include "compiler/physics/lower/reading.hpp"

namespace vphi::physics {

Scope Scope::in(const Reading& reading) {
  Scope scope;
  scope.given = &reading;
  return scope;
}

Scope Scope::of_definition(const Scope& scope) {
  Scope inner = in(scope.reading());
  inner.parent = scope.dynamic_part();
  return inner;
}

const Value* Scope::value(const std::string& name) const {
  for (const Scope* s = this; s; s = s->parent) {
    if (const auto it = s->values.find(name); it != s->values.end()) return &it->second;
    if (s->indices.contains(name)) return nullptr;
  }
  return nullptr;
}

const IndexValue* Scope::index(const std::string& name) const {
  for (const Scope* s = this; s; s = s->parent) {
    if (const auto it = s->indices.find(name); it != s->indices.end()) return &it->second;
    if (s->values.contains(name)) return nullptr;
  }
  return nullptr;
}

const Reading& Scope::reading() const {
  static const Reading nothing;
  for (const Scope* s = this; s; s = s->parent) {
    if (s->given) return *s->given;
  }
  return nothing;
}

const Scope* Scope::dynamic_part() const {
  const Scope* s = this;
  while (s && !s->dynamic) s = s->parent;
  return s;
}

}  // namespace vphi::physics
