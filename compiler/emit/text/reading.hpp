// The readable form of kernels (`vphi emit MODEL`): names instead of the numbers of scalars and of
// dx, and the line of the model above the statements that come from it. For text that is compiled
// Bindings::reading is null, and each of these functions gives the plain text.
#pragma once

#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/emit/emit.hpp"

namespace vphi::emit {

/// "vphi_slot_mean_phi_2" of "mean(phi^2)" for each scalar: valid and distinct identifiers.
std::vector<std::string> slot_names(const program::Program& program);

/// Number of the scalar `name`. Throws std::invalid_argument where there is none.
std::ptrdiff_t slot_number(const Bindings& bindings, const std::string& name);
/// Index of a scalar: its name in the readable form, otherwise its number. Scalars of a single step
/// have only a number.
std::string slot_text(const Bindings& bindings, std::ptrdiff_t slot);

/// "// line 12: phi'' = ..." for a node that comes from a line of the model; empty for others.
std::string line_note(const Bindings& bindings, const algebra::Node& node);

/// The factor of a stencil's integer sum: its name ("per_12_dx2") and its formula ("1/(12*dx^2)").
struct FactorName {
  std::string name, words;
};
FactorName factor_name(const algebra::StencilData& stencil);

}  // namespace vphi::emit
