// The word for the severity of a diagnostic, in printed text and in JSON.
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
