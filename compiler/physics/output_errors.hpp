// What can be wrong with outputs: their names and their times.
#pragma once

#include <string>

#include "dsl/diagnostic.hpp"

namespace vphi::physics::errors {

/// `first`: the output that has the name. `twice`: both stand in one clause.
dsl::Diagnostic same_output_name(dsl::Span span, const std::string& name, const std::string& file,
                                 dsl::Span first, bool twice);

}  // namespace vphi::physics::errors
