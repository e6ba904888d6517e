// The line of the model that a part of a plan comes from, for messages and files of a run.
#pragma once

#include <string>

#include "dsl/resolve.hpp"

namespace vphi::schedule {

struct ModelLine {
  std::string text;  ///< empty where the part has no place in a source
  int number = 0;
};

ModelLine line_of(const dsl::Resolved& resolved, dsl::Span span);

}  // namespace vphi::schedule
