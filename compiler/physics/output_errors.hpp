// What can be wrong with outputs: their names and their times.
#pragma once

#include <string>

#include "dsl/diagnostic.hpp"

namespace vphi::physics::errors {

/// `first`: the output that has the name. `twice`: both stand in one clause.
dsl::Diagnostic same_output_name(dsl::Span span, const std::string& name, const std::string& file,
                                 dsl::Span first, bool twice);

/// `every T:` in a chain, which has no time.
dsl::Diagnostic output_time_of_chain(dsl::Span span);
/// The same where t is not a count of steps.
dsl::Diagnostic output_time_of_clock(dsl::Span span);
/// T is not a whole number of steps.
dsl::Diagnostic output_between_steps(dsl::Span span, double steps);

}  // namespace vphi::physics::errors
