// Messages about the text of an integrator or a solver, one function each.
#pragma once

#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::text::errors {

using dsl::Diagnostic;
using dsl::Span;

Diagnostic unknown_integrator(Span at, const std::string& name,
                              const std::vector<std::string>& known);
Diagnostic unreadable_head(Span at, const std::string& integrator, const std::string& why);
Diagnostic composed_of_itself(Span at, const std::string& integrator);
Diagnostic weight_not_number(Span at, const std::string& integrator);
Diagnostic weights_sum(Span at, const std::string& integrator, double sum);
Diagnostic cannot_evaluate(Span at, const std::string& integrator, const std::string& why);
/// The text of a solver cannot be used; `used` is the solve that names it.
Diagnostic solver_text(Span at, const std::string& solver, const std::string& why, Span used);

}  // namespace vphi::text::errors
