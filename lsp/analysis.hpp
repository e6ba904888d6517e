// The analysis of one version of a document.
//
// `analyse` reads and resolves: quick (milliseconds), so an editor's question is answered from the
// very text on the screen, broken or not. `deepen` derives the equations and makes the schedule,
// which finds the rest of the mistakes and gives hover its equations; it may take longer and runs
// on the server's second thread. Both are pure functions of the text and the library and never
// throw; an Analysis is not changed after it was made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/lexer.hpp"
#include "lsp/position.hpp"

namespace vphi::lsp {

struct Analysis {
  std::shared_ptr<const dsl::Source> source;
  LineIndex lines;
  dsl::Tokens tokens;
  dsl::Resolved resolved;
  dsl::Diagnostics diagnostics;  ///< of syntax where that has errors, else of names and types
  bool syntax_good = false;
  bool sound = false;  ///< no error: worth deriving

  explicit Analysis(std::shared_ptr<const dsl::Source> text)
      : source(std::move(text)), lines(source->text()) {}
  /// The token that holds this byte or ends there; null in blanks and comments.
  const dsl::Token* token_at(std::uint32_t offset) const;
  bool in_comment(std::uint32_t offset) const;
};

/// One derived equation, as text.
struct DerivedEquation {
  std::string left, right;
};

struct Derived {
  dsl::Diagnostics diagnostics;  ///< of all stages
  std::vector<DerivedEquation> physical, program;
};

using Library = std::vector<dsl::ModelText>;

std::shared_ptr<const Analysis> analyse(std::string name, std::string text, const Library& library);
Derived deepen(const Analysis& analysis);

}  // namespace vphi::lsp
