// Outputs of fields: spectra, slices, snapshots, histograms, profiles, correlators, occupation
// numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// The kind of output of a call such as `spectrum(...)`; nothing for any other expression.
std::optional<Observable::Kind> field_output_kind(const dsl::Expr& e);

/// The outputs of one call; `given`, if not empty, is the name given in the model.
std::vector<Observable> field_outputs(const Program& d, Lowerer& lower, ProgramUnits& units,
                                      Observable::Kind kind, const dsl::Expr& e,
                                      const std::string& given);

/// Index among the axes of the sweep; -1: it has a single value, or is no axis.
int axis_of_sweep(const Setting& d, const std::string& name);

}  // namespace vphi::physics
