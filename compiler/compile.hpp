// The whole way from a resolved model to a program: derive, schedule, passes, emit.
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
#include "program/program.hpp"

namespace vphi {

struct Compilation {
  dsl::Resolved resolved;
  std::optional<physics::System> system;
  std::optional<schedule::Plan> plan;
  std::optional<program::Program> program;  ///< absent where diagnostics have errors
  /// Where compilation stops behind a pass for devices: each kernel of the plan as it is there.
  std::vector<kernel::SiteFunction> site_functions;
  dsl::Diagnostics diagnostics;  ///< of all stages, in order
};

/// What `CompileOptions::stop_after` may name, in the order of the stages: `derive`, `prepare`,
/// then `schedule` and the passes over kernels, those for devices last.
std::vector<std::string> stage_names();

/// A resolved model to a system that can be scheduled; nothing where errors were added.
std::optional<physics::System> system_of(const dsl::Resolved& resolved,
                                         const CompileOptions& options,
                                         dsl::Diagnostics& diagnostics);
/// Text of a model file to a system (and diagnostics); `library` is the folder of std texts.
Compilation derive_model(const std::string& path, const CompileOptions& options);
/// The same, on to the program for a target.
Compilation compile_model(const std::string& path, const CompileOptions& options,
                          const emit::TargetInfo& target);

}  // namespace vphi
