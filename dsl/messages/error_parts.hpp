// Helper functions for messages.
#pragma once

#include <optional>
#include <string>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/name_errors.hpp"

namespace vphi::dsl::errors {

/// Largest number of characters of the model that a message quotes.
constexpr std::size_t kShown = 60;

inline std::string quoted(const std::string& text) {
  if (text.size() <= kShown) return "`" + text + "`";
  return "`" + text.substr(0, kShown) + "...`";
}

inline Diagnostic make(std::string code, Span at, std::string message) {
  Diagnostic d;
  d.code = std::move(code);
  d.span = at;
  d.message = std::move(message);
  return d;
}

inline std::string did_you_mean(const std::string& name) { return "did you mean `" + name + "`?"; }

/// Adds a label at the declaration of a name, where that is in a text.
inline void point_at(Diagnostic& d, const Symbol& symbol) {
  if (!symbol.declared.empty()) {
    d.labels.push_back({symbol.declared, kind_name(symbol) + " `" + symbol.name + "`"});
  }
}

}  // namespace vphi::dsl::errors
