// The analysis of one version of a document.
//
// `analyse` parses and resolves. It takes milliseconds, so requests of an editor are answered from
// the text on the screen, with or without errors. `deepen` derives the equations and makes the
// schedule. It finds the remaining errors and the equations for hover; it may take longer and runs
// on the server's second thread. Both are pure functions of the text and the library and do not
// throw. An Analysis is immutable.
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
  /// Of syntax where there are errors of syntax, otherwise of names and types.
  dsl::Diagnostics diagnostics;
  bool syntax_good = false;
  bool sound = false;  ///< there are no errors, so that equations can be derived

  explicit Analysis(std::shared_ptr<const dsl::Source> text)
      : source(std::move(text)), lines(source->text()) {}
  /// The token that contains this byte or ends there; null in blanks and comments.
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
