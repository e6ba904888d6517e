// Compiles a resolved model to a program: derive, prepare, schedule, passes, emit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/model/options.hpp"
#include "compiler/model/plan.hpp"
#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/load.hpp"
#include "program/program.hpp"

namespace vphi {

struct Compilation {
  dsl::Resolved resolved;
  std::optional<physics::System> system;
  std::optional<schedule::Plan> plan;
  std::optional<program::Program> program;  ///< absent where diagnostics have errors
  /// Where compilation stops after a pass for devices: each kernel of the plan in the form after
  /// this pass.
  std::vector<kernel::SiteFunction> site_functions;
  dsl::Diagnostics diagnostics;  ///< of all stages, in order
};

/// The values of `CompileOptions::stop_after`, in the order of the stages: `derive`, `prepare`,
/// `schedule`, the passes over kernels, the passes for devices.
std::vector<std::string> stage_names();

/// The system of a resolved model, ready to be scheduled; nothing where errors were reported.
std::optional<physics::System> system_of(const dsl::Resolved& resolved,
                                         const CompileOptions& options,
                                         dsl::Diagnostics& diagnostics);
/// Reads a model, a file or a text, and derives its system.
Compilation derive_model(const dsl::ModelSource& source, const CompileOptions& options);
/// Reads a model and compiles it for a target.
Compilation compile_model(const dsl::ModelSource& source, const CompileOptions& options,
                          const emit::TargetInfo& target);

}  // namespace vphi
