// Diagnostics: errors, warnings and notes for the user.
//
// A diagnostic is a value made by one named function (dsl/syntax/syntax_errors.hpp,
// dsl/name_errors.hpp; *_errors.hpp of the compiler's folders for physics and schedule), and
// printed by one renderer, as text or as JSON. Codes: E01xx names, E02xx types and indices, E03xx
// numerics and stability, E04xx clauses, E05xx syntax, E06xx units, E07xx equations and
// integrators, E08xx devices and run time, W.... warnings, N.... notes ("not yet in this version"
// is E0901).
#pragma once

#include <string>
#include <vector>

#include "dsl/syntax/text.hpp"

namespace vphi::dsl {

enum class Severity { Error, Warning, Note };

/// A second place in the text, for instance the declaration with which a name clashes.
struct Label {
  Span span;
  std::string text;
};

struct Diagnostic {
  std::string code;  ///< "E0104"; stable, documented, searchable
  Severity severity = Severity::Error;
  std::string message;  ///< one line, names in backticks
  Span span;            ///< the underlined text
  std::string under;    ///< short text next to the underline ("did you mean `gamma`?")
  std::vector<Label> labels;
  std::string rule;  ///< the rule in one sentence
  std::string hint;  ///< one concrete fix
};

/// Collects diagnostics in text order; more than `limit` errors are counted, not printed.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool has_errors() const { return errors_ > 0; }
  int errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

/// Sources by file number, for the renderer.
using Sources = std::vector<const Source*>;

struct RenderOptions {
  bool colour = false;
  int limit = 5;  ///< number of errors shown; the rest is counted
};

std::string render_text(const Diagnostics& diagnostics, const Sources& sources,
                        const RenderOptions& options = {});
/// JSON array of {code, severity, message, file, line, column, hint}.
std::string render_json(const Diagnostics& diagnostics, const Sources& sources);

}  // namespace vphi::dsl
