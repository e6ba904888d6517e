// Messages about the text of a stencil (E0305 to E0310, E0324).
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

Diagnostic stencil_constant(Span span, const std::string& name, const std::string& sum);
Diagnostic stencil_moment(Span span, const std::string& name, const std::string& found);
Diagnostic stencil_not_linear(Span span, const std::string& name);
Diagnostic stencil_weights(Span span, const std::string& name);
Diagnostic stencil_dimensions(Span span, const std::string& name, int needs, int has);
Diagnostic unknown_stencil(Span span, const std::string& name,
                           const std::vector<std::string>& known);

/// `laplacian = spectral` where it cannot be; `why` completes the sentence.
Diagnostic not_spectral(Span span, const std::string& why, Span place);

}  // namespace vphi::physics::errors
