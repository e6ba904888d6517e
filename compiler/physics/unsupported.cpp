// Families of models that the language knows and this version cannot run: one message for each
// clause.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

namespace {

/// Whether a `gauge` line of this model has an equation of its own.
bool links_flow(const Context& d) {
  return std::ranges::any_of(d.facts.fields, [&](const FieldFact& field) {
    return field.gauge && d.facts.equation(field.name) != nullptr;
  });
}

}  // namespace

void refuse_unsupported(const Context& d) {
  for (const dsl::Line& line : d.resolved.model.lines) {
    if (line.kind != dsl::Line::Kind::Clause) continue;
    if (line.clause.keyword == "action" && !d.resolved.clause("sample") && !links_flow(d)) {
      d.diagnostics.add(errors::not_yet(line.clause.keyword_span, "an action without `sample`"));
    }
  }
}

}  // namespace vphi::physics
