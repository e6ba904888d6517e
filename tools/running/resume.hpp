// Options of the command line for checkpoints: intervals, and continuing from one. Admissible
// changes between the parts of a run are in embed/resume.hpp.
#pragma once

#include <string>

#include "embed/resume.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

using embed::model_name;
using embed::state_lines;

/// Seconds of steps; a longer run is not discarded without `--restart`.
constexpr double kWorthKeeping = 60;

struct KeepWords {
  /// Argument of the option: "10min", "500 steps", "never"; empty: the default.
  std::string every;
  std::string resume;  ///< DIR, FILE or "auto"; empty: the output folder
  bool resuming = false, restart = false;

  /// --resume=auto: continues where there is a checkpoint, otherwise starts.
  bool automatic() const { return resuming && resume == "auto"; }

  void declare(CommandLine& line);
  /// Throws UsageError.
  runtime::KeepOptions options() const;
};

}  // namespace vphi::tools
