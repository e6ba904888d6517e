// Messages about displacements, standard errors and the targets that end a run; one function each.
#pragma once

#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

dsl::Diagnostic displacement_of(dsl::Span span);
dsl::Diagnostic no_standard_error(dsl::Span span);
/// The only end of the run is a target.
dsl::Diagnostic stop_criterion_alone(dsl::Span span);
/// No output is made during the run, so the target is never evaluated.
dsl::Diagnostic stop_criterion_unseen(dsl::Span span);

}  // namespace vphi::physics::errors
