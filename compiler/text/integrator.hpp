// Integrators from their texts (compiler/model/texts.hpp).
//
// `integrator NAME(x' = V(v), v' = F(x), option = 1) { ... }` is read into equations, options and
// statements; `integrator NAME = compose(I, w, ...)` into the body of I and the lengths of its
// substeps in units of dt. Compositions of compositions multiply their weights. Reading fails where
// a head is not a list of equations, a weight is not a number, or a name is unknown (diagnostics).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/model/texts.hpp"
#include "dsl/resolve.hpp"

namespace vphi::text {

/// The integrator of this name; `at` is the place that names it. Reports E0740 where there is none.
std::optional<Integrator> read_integrator(const std::string& name, dsl::Span at,
                                          const dsl::Resolved& resolved,
                                          dsl::Diagnostics& diagnostics);

/// All integrators that can be read, the model's first, for proposals in messages.
std::vector<Integrator> all_integrators(const dsl::Resolved& resolved);

}  // namespace vphi::text
