// Messages about noise where it has no meaning (E0115), and noise that an integrator cannot use
// (E0760, W0761, E0812).
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// `in_law`: the model has conservation laws.
Diagnostic noise_not_here(Span span, bool in_law);
Diagnostic noise_not_linear(Span span, const std::string& name);
/// Noise of neighbours with a factor that depends on the state, without `noise ito`.
Diagnostic spread_noise_calculus(Span span, const std::string& name);
Diagnostic calculus_open(Span span, const std::string& taken);  ///< a warning

}  // namespace vphi::physics::errors
