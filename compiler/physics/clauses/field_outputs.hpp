// What is written of fields: spectra, slices, snapshots, histograms, profiles, correlators,
// occupation numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Of a call `spectrum(...)` and its kind.
std::optional<Observable::Kind> field_output_kind(const dsl::Expr& e);

/// The outputs that one call makes, called `given` where that is not empty.
std::vector<Observable> field_outputs(const Program& d, Lowerer& lower, ProgramUnits& units,
                                      Observable::Kind kind, const dsl::Expr& e,
                                      const std::string& given);

/// Place among the axes of the sweep; -1: of one value, or none.
int axis_of_sweep(const Setting& d, const std::string& name);

}  // namespace vphi::physics
