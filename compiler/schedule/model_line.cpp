#include "compiler/schedule/model_line.hpp"

namespace vphi::schedule {

ModelLine line_of(const dsl::Resolved& resolved, dsl::Span span) {
  if (span.empty()) return {};
  for (const dsl::Source* source : resolved.sources()) {
    if (!source || source->file() != span.file || span.end > source->text().size()) continue;
    const int number = source->position(span.begin).line;
    return {std::string(source->line(number)), number};
  }
  return {};
}

}  // namespace vphi::schedule
