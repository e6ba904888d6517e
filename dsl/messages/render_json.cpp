// Diagnostics for programs: editors, test runners.
#include <nlohmann/json.hpp>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/messages/severity_word.hpp"

namespace vphi::dsl {
namespace {

using nlohmann::json;

// file, line, column, end_line, end_column; line 0 where there is no place.
json place(Span span, const Sources& sources) {
  json out{{"file", ""}, {"line", 0}, {"column", 0}};
  if (span.file >= sources.size() || !sources[span.file] || (span.begin == 0 && span.end == 0)) {
    return out;
  }
  const Source& source = *sources[span.file];
  const Position begin = source.position(span.begin);
  const Position end = source.position(span.end);
  out["file"] = source.name();
  out["line"] = begin.line;
  out["column"] = begin.column;
  out["end_line"] = end.line;
  out["end_column"] = end.column;
  return out;
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const Sources& sources) {
  json all = json::array();
  for (const Diagnostic& d : diagnostics.all()) {
    json one = place(d.span, sources);
    one["code"] = d.code;
    one["severity"] = word(d.severity);
    one["message"] = d.message;
    one["hint"] = d.hint;
    one["rule"] = d.rule;
    one["under"] = d.under;
    json labels = json::array();
    for (const Label& label : d.labels) {
      json shown = place(label.span, sources);
      shown["text"] = label.text;
      labels.push_back(std::move(shown));
    }
    one["labels"] = std::move(labels);
    all.push_back(std::move(one));
  }
  // Bytes that are not UTF-8 are replaced: a message must not fail.
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace vphi::dsl
