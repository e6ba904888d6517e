// The meaning of a word at its position in the text, for hover, completion, definition, references
// and rename.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lsp/analysis.hpp"

namespace vphi::lsp {

/// The line of the model (or of the body of a clause) that contains this byte.
struct LineAt {
  const dsl::Line* line = nullptr;
  const dsl::Line* outer = nullptr;  ///< the clause whose body contains `line`
};
LineAt line_at(const Analysis& analysis, std::uint32_t offset);

/// The meaning of one occurrence of a word.
struct Meaning {
  enum class Kind {
    Nothing,
    Keyword,   ///< first word of a clause
    Option,    ///< `name =` of a clause
    Local,     ///< parameter of a function, index in a head
    Symbol,    ///< of the model, of a construct, of the library
    Function,  ///< built in
    Constant,  ///< built in: pi
    Type,
  };
  Kind kind = Kind::Nothing;
  std::string name;  ///< ASCII spelling
  dsl::Span at;      ///< the word
  const dsl::Symbol* symbol = nullptr;
  const dsl::Clause* clause = nullptr;
  dsl::Span declared;  ///< of a Local
};
Meaning meaning_at(const Analysis& analysis, std::uint32_t offset);

/// All occurrences of a symbol or a local name in the model, in text order.
std::vector<dsl::Span> occurrences(const Analysis& analysis, const Meaning& meaning);

/// Lines of the text as written, for a hover: the declaration of a symbol, at most a few lines.
std::string declaration_text(const Analysis& analysis, const dsl::Symbol& symbol);

}  // namespace vphi::lsp
