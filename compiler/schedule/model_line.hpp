// Where a part of a plan stands in the model, for messages and files of a run.
#pragma once

#include <string>

#include "dsl/resolve.hpp"

namespace vphi::schedule {

struct ModelLine {
  std::string text;  ///< empty where the place is in no source
  int number = 0;
};

ModelLine line_of(const dsl::Resolved& resolved, dsl::Span span);

}  // namespace vphi::schedule
