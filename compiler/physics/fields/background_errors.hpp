// Messages about expanding boxes and vacuum fluctuations in them.
#pragma once

#include <string>

#include "compiler/physics/fields/deviation_choice.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// E0611: a potential or Hamiltonian contains `name`, t or H, in a box whose expansion follows from
/// its averages.
Diagnostic not_autonomous(Span span, const std::string& name, const std::string& source,
                          const std::string& scale, Span metric);

/// E0735: a prescribed scale factor is negative or not finite at the start of the run.
Diagnostic scale_at_start(Span span, const std::string& scale, double value, double time);

/// E0735: a prescribed scale factor is not positive at a time of the run.
Diagnostic scale_in_run(Span span, const std::string& scale, double value, double time);

/// W0613: k^2 + m^2 is negative for the longest waves of the box, below k = `edge`.
Diagnostic vacuum_of_tachyon(Span span, const std::string& field, double mass2, double longest,
                             double edge);

/// W0614: fluctuations of size `rms` about a mean share the 24 bits of an f32 number with it.
Diagnostic small_in_f32(Span span, const std::string& field, double mean, double rms,
                        const StoredAsValue& stored);

}  // namespace vphi::physics::errors
