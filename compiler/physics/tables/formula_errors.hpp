// Messages about functions of a formula: inverse, tabulate, integral.
#pragma once

#include <string>

#include "compiler/physics/tables/known_function.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// The formula of `function` holds `what` beside the name of its range: `of_range`, that of another
/// one.
Diagnostic formula_varies(Span span, const std::string& function, const std::string& what,
                          bool of_range = false);
/// `place`: where, as the user writes such numbers, "T = 0.2 [GeV]".
Diagnostic formula_unfit(Span span, const std::string& function, const Unfit& why,
                         const std::string& place);

}  // namespace vphi::physics::errors
