// Responses to requests of an editor, as JSON of the Language Server Protocol 3.17.
//
// Each function is pure: it takes an analysis and a position, and returns a response, or null where
// there is none.
#pragma once

#include <nlohmann/json.hpp>

#include "lsp/analysis.hpp"
#include "lsp/scope.hpp"

namespace vphi::lsp {

using Json = nlohmann::json;

/// Addresses ("file://") of the document, of the library and of documentation; empty where there
/// are none.
struct Addresses {
  std::string document;
  std::string std_folder;    ///< library texts
  std::string pages_folder;  ///< pages of diagnostics: errors_language.md, ...

  /// Address of the source with this name.
  std::string of(const dsl::Source& source, std::uint16_t file) const;
};

Json range(const LineIndex& lines, dsl::Span span);
Json diagnostics(const Analysis& analysis, const dsl::Diagnostics& all, const Addresses& where);
Json hover(const Analysis& analysis, const Derived* derived, std::uint32_t offset);
Json completion(const Analysis& analysis, std::uint32_t offset);
Json definition(const Analysis& analysis, const Addresses& where, std::uint32_t offset);
Json references(const Analysis& analysis, const Addresses& where, std::uint32_t offset);
Json document_symbols(const Analysis& analysis);
/// Edits that bring the document into canonical style; null where it cannot be parsed.
Json formatting(const Analysis& analysis);
/// The name that can be renamed at this position; null where there is none.
Json prepare_rename(const Analysis& analysis, std::uint32_t offset);
/// A workspace edit, or a string with the reason why there is none.
Json rename(const Analysis& analysis, const Addresses& where, std::uint32_t offset,
            const std::string& name);

/// "file://" address of a path.
std::string address_of(const std::string& path);
/// The page of a diagnostic: file and anchor, "errors_language.md#e0104-..."; empty: none.
std::string page_of(const std::string& code);
/// That page's text.
std::string_view page_text(const std::string& code);

}  // namespace vphi::lsp
