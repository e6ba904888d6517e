// Derives the equations of a resolved model (compiler/model/system.hpp).
#pragma once

#include <optional>

#include "compiler/model/options.hpp"
#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"

namespace vphi::physics {

/// Nothing where an error was reported. A construct that this version cannot run is an error
/// (E0901).
std::optional<System> derive(const dsl::Resolved& resolved, const CompileOptions& options,
                             dsl::Diagnostics& diagnostics);

}  // namespace vphi::physics
