#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

void Context::fail(dsl::Diagnostic diagnostic) const {
  diagnostics.add(std::move(diagnostic));
  throw Failure{};
}

std::string written(const Context& d, dsl::Span span) {
  const dsl::Sources sources = d.resolved.sources();
  if (span.file >= sources.size() || !sources[span.file]) return {};
  return std::string(sources[span.file]->at(span));
}

}  // namespace vphi::physics
