// From a resolved model to its equations (see system.hpp for what a System is).
#pragma once

#include <optional>

#include "compiler/model/options.hpp"
#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"

namespace vphi::physics {

/// Nothing where the diagnostics received an error (a family that cannot run yet is one: E0901).
std::optional<System> derive(const dsl::Resolved& resolved, const CompileOptions& options,
                             dsl::Diagnostics& diagnostics);

}  // namespace vphi::physics
