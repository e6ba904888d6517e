// Options of the command line for checkpoints: intervals, admissible changes between the parts of a
// run, and options that a continued run takes over.
//
// A run may continue with another end (`until`, --until, --steps), other outputs and expectations,
// another device or precision, other comments and titles. Everything that enters the state must be
// the same: all other lines of the model, the parameters in them, lattice, seed. Otherwise
// `check_same_model` throws RunError E0851 with the first line or parameter that differs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

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

/// Options of the command in the form stored in a checkpoint, and back: options missing in `given`
/// are taken from `call`. --steps and --until exclude each other.
std::vector<std::pair<std::string, std::string>> call_of(const ModelOptions& options);
ModelOptions continued(const ModelOptions& given,
                       const std::vector<std::pair<std::string, std::string>>& call);

/// The lines of a model that determine its state, in canonical form without comments: no outputs,
/// expectations, `until` or precision, and only the parameters and definitions that these lines
/// use.
std::vector<std::string> state_lines(const std::string& model_text);
/// The name after `model` in a file, or its file name where that cannot be read.
std::string model_name(const std::string& path);
/// `until` of the evolve clause in canonical form, or empty.
std::string until_of(const std::string& model_text);

/// Throws RunError E0851; returns notes on admissible differences.
std::vector<std::string> check_same_model(const runtime::CheckpointHead& then,
                                          const program::Program& now);

}  // namespace vphi::tools
