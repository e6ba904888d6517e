// An error as all stages of the compiler write one: code, place, what is wrong, what to show under
// the place, the rule, and what to do.
#pragma once

#include <string>
#include <utility>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::dsl {

inline Diagnostic error(const char* code, Span at, std::string message, std::string under,
                        std::string rule, std::string hint) {
  Diagnostic d;
  d.code = code;
  d.span = at;
  d.message = std::move(message);
  d.under = std::move(under);
  d.rule = std::move(rule);
  d.hint = std::move(hint);
  return d;
}

/// The same with one more place and what it is.
inline Diagnostic with_label(Diagnostic d, Span at, std::string text) {
  d.labels.push_back({at, std::move(text)});
  return d;
}

}  // namespace vphi::dsl
