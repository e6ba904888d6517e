// Messages about displacements, standard errors and stop criteria (`until` with averages); one
// function each.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

dsl::Diagnostic displacement_of(dsl::Span span);
dsl::Diagnostic no_standard_error(dsl::Span span);
/// `until` has no condition but stop criteria on averages.
dsl::Diagnostic stop_criterion_alone(dsl::Span span);
/// No output is written during the run, so the stop criterion is never evaluated.
dsl::Diagnostic stop_criterion_unseen(dsl::Span span);

}  // namespace vphi::physics::errors
