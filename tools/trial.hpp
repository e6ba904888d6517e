// The runs of `vphi test`: the model as it is written where that takes seconds, else a smaller one.
//
// A run to the end of the model keeps or breaks every promise of the model. For a run that ends
// earlier, drift(H) and conserved(u) are judged, which hold at any time. On a smaller lattice or
// with fewer particles the error of a step differs, so only conserved(u) is judged. The other
// promises are shown without a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

enum class Extent { Whole, Shorter, Smaller };

/// Most site updates (of all instances; of sums over pairs, pairs) of a whole run.
constexpr std::int64_t kWholeUpdates = 30'000'000;
/// And its most steps: small lattices wait for the launches of their kernels.
constexpr std::int64_t kWholeSteps = 1'000'000;
/// Where the end is not known beforehand, it is searched for with at least this many steps.
constexpr std::int64_t kWorthLooking = 500;

/// What became of one `expect`.
struct Verdict {
  std::string text;
  bool ok = true;
  double value = 0;
  bool judged = true;  ///< false: the run was not the model's own, and the promise needs that
};

struct TrialRun {
  runtime::RunResult
      result;  ///< `state` without momenta, which staggered schemes have between steps
  std::vector<Verdict> verdicts;
  bool kept() const;  ///< all that was judged
};

/// Compiles and runs. Throws RunError, DeviceError.
TrialRun run_trial(runtime::Device& device, const std::string& path, const CompileOptions& options,
                   Extent extent);

/// Of a run at the size that the options say: shorter where they give a number of steps.
Extent extent_of(const CompileOptions& options);

/// The model with these options to its end; nothing where that is too far away.
std::optional<TrialRun> run_whole(runtime::Device& device, const std::string& path,
                                  const CompileOptions& options);

}  // namespace vphi::tools
