// The whole way from a resolved model to a program: derive, schedule, passes, emit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/physics/system.hpp"
#include "dsl/resolve.hpp"
#include "program/program.hpp"

namespace vphi {

/// What the command line may change without touching the model's text.
struct CompileOptions {
  std::vector<std::pair<std::string, std::string>> set;  ///< --set NAME=EXPR
  std::string lattice;                                   ///< --lattice 64^3
  std::string until;                                     ///< --until EXPR
  std::int64_t steps = -1;                               ///< --steps N
  std::string precision;                                 ///< --precision f32|f64
  std::optional<std::uint64_t> seed;
  std::int64_t batch = 0;  ///< instances at once; 0: all of a sweep
  std::string stop_after;  ///< emit --after PASS
};

namespace schedule {

/// A schedule in terms of kernels (IR), before any source text exists.
struct Plan {
  std::vector<kernel::Kernel> kernels;
  program::Program program;          ///< everything but kernels' source and launch shape
  std::vector<int> buffer_of;        ///< array number -> buffer
  std::vector<std::string> remarks;  ///< what was fused, which order was chosen and why
};

}  // namespace schedule

struct Compilation {
  dsl::Resolved resolved;
  std::optional<physics::System> system;
  std::optional<schedule::Plan> plan;
  std::optional<program::Program> program;  ///< absent where diagnostics have errors
  dsl::Diagnostics diagnostics;             ///< of all stages, in order
};

/// Text of a model file to a system (and diagnostics); `library` is the folder of std texts.
Compilation derive_model(const std::string& path, const CompileOptions& options);
/// The same, on to the program for a target.
Compilation compile_model(const std::string& path, const CompileOptions& options,
                          const emit::TargetInfo& target);

}  // namespace vphi
