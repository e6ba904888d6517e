// The runs of `vphi test`: the whole model where that takes seconds, otherwise a smaller one.
//
// After a run to the end of the model every expectation is evaluated. After a shorter run only
// drift(H) and conserved(u) are, which hold at any time. On a smaller lattice or with fewer
// particles the error of a step differs, so only conserved(u) is evaluated. Other expectations are
// shown without a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

enum class Extent { Whole, Shorter, Smaller };

/// Largest number of site updates (or pairs), of all instances, of a whole run.
constexpr std::int64_t kWholeUpdates = 30'000'000;
/// Largest number of its steps, because on small lattices the time of launches dominates.
constexpr std::int64_t kWholeSteps = 1'000'000;
/// Where the end is not known beforehand, at least this many steps are tried.
constexpr std::int64_t kWorthLooking = 500;

/// The result of one `expect`.
struct Verdict {
  std::string text;
  bool ok = true;
  double value = 0;
  bool judged = true;  ///< false: the expectation cannot be evaluated after this run
};

struct TrialRun {
  runtime::RunResult
      result;  ///< `state` excludes momenta, which staggered schemes have at half steps
  std::vector<Verdict> verdicts;
  bool kept() const;  ///< whether all evaluated expectations hold
};

/// Compiles and runs. Throws RunError, DeviceError.
TrialRun run_trial(runtime::Device& device, const std::string& path, const CompileOptions& options,
                   Extent extent);

/// The extent of a run of the size in the options: shorter where they give a number of steps.
Extent extent_of(const CompileOptions& options);

/// Runs the model with these options to its end; nothing where that takes too long.
std::optional<TrialRun> run_whole(runtime::Device& device, const std::string& path,
                                  const CompileOptions& options);

}  // namespace vphi::tools
