// Compiles a model for a run on the same Brownian path as a run with half its step.
#pragma once

#include "compiler/compile.hpp"

namespace vphi {

/// As compile_model, but each Gaussian number is the normalised sum of two numbers of a run with
/// half the step (schedule/integrator/brownian.hpp). The result has no program and no error where
/// the noise of the model has two- or three-point distributions.
Compilation compile_coarse(const dsl::ModelSource& source, const CompileOptions& options,
                           const emit::TargetInfo& target);

}  // namespace vphi
