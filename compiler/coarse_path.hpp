// A model compiled for a step of which the finer run takes two, on the same Brownian path.
#pragma once

#include "compiler/compile.hpp"

namespace vphi {

/// As compile_model, with Gaussian numbers that are sums of those that a run at half the step draws
/// (schedule/integrator/brownian.hpp). Without a program, and without an error, where the noise of
/// the model has two or three points.
Compilation compile_coarse(const std::string& path, const CompileOptions& options,
                           const emit::TargetInfo& target);

}  // namespace vphi
