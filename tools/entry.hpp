// One entry of the reference: what `vphi explain WORD` shows of a clause, an option, a function, a
// name that a construct gives, a constant, or a text of the library. The same tables as
// tools/reference.hpp, and a line of a shipped model or of the library as an example.
#pragma once

#include <string>
#include <vector>

namespace vphi::tools {

struct ReferenceEntry {
  std::string kind;                       ///< "clause", "function", "integrator", ...
  std::string usage;                      ///< how it is written
  std::string meaning;                    ///< a sentence or more
  std::vector<std::string> options = {};  ///< "dt: a number above 0; step of time"
  std::string text = {};                  ///< of the library: the text itself; else empty
  std::string example = {};  ///< a line of a shipped model; empty where no model contains the word
  std::string source = {};   ///< that model's name
};

/// All meanings of a word; empty where it has none.
std::vector<ReferenceEntry> reference_entries(const std::string& word);
/// Every word that has an entry, for suggestions.
std::vector<std::string> reference_words();
/// Entries as plain text.
std::string entries_text(const std::string& word, const std::vector<ReferenceEntry>& entries);

}  // namespace vphi::tools
