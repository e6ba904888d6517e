// Makes an error of any stage of the compiler: code, place, message, text under the place, rule,
// and fix.
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

/// The diagnostic with an additional place and its text.
inline Diagnostic with_label(Diagnostic d, Span at, std::string text) {
  d.labels.push_back({at, std::move(text)});
  return d;
}

}  // namespace vphi::dsl
