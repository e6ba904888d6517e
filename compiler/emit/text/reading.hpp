// The form of kernels for people (`vphi emit MODEL`): names in place of the numbers of scalars and
// of dx, and the model's line above the statements that come from it. What is compiled has none of
// this: Bindings::reading is null there. Each of these functions then gives the plain text.
#pragma once

#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/emit/emit.hpp"

namespace vphi::emit {

/// "vphi_slot_mean_phi_2" of "mean(phi^2)" for each scalar: a name of the language, no two alike.
std::vector<std::string> slot_names(const program::Program& program);

/// Place of a scalar: its name for people, its number otherwise and for scalars of a step alone.
std::string slot_text(const Bindings& bindings, std::ptrdiff_t slot);

/// "// line 12: phi'' = ..." for what comes from a line of the model; empty for the rest.
std::string line_note(const Bindings& bindings, const algebra::Node& node);

/// What the factor of a stencil's integer sum is called ("per_12_dx2"), and in words
/// ("1/(12*dx^2)").
struct FactorName {
  std::string name, words;
};
FactorName factor_name(const algebra::StencilData& stencil);

}  // namespace vphi::emit
