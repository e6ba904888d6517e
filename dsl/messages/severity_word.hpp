// How serious a diagnostic is, in a word: as it is printed and as programs read it.
#pragma once

#include "dsl/messages/diagnostic.hpp"

namespace vphi::dsl {

constexpr const char* word(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "error";
}

}  // namespace vphi::dsl
