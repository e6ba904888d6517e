// The side of checkpoints that the command line sees: intervals, what may change between the parts
// of a run, which options a continued run takes over.
//
// A run may go on with another end (`until`, --until, --steps), other outputs and expectations,
// another device or precision, other comments and titles. Everything that enters the state must be
// the same: every other line of the model, the parameters they use, lattice, seed. Where it is not,
// `check_same_model` throws RunError E0851 that names the first line or parameter that differs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

constexpr double kWorthKeeping = 60;  ///< seconds of steps; a longer run is not discarded silently

struct KeepWords {
  std::string every;   ///< as written: "10min", "500 steps", "never"; empty: the default
  std::string resume;  ///< DIR, FILE or "auto"; empty: the output folder
  bool resuming = false, restart = false;

  /// --resume=auto: goes on where there is something to go on with, else starts.
  bool automatic() const { return resuming && resume == "auto"; }

  void declare(CommandLine& line);
  /// Throws UsageError.
  runtime::KeepOptions options() const;
};

/// Options of the command as a checkpoint keeps them, and back: what `given` leaves open is taken
/// from `call`. --steps and --until are one choice.
std::vector<std::pair<std::string, std::string>> call_of(const ModelOptions& options);
ModelOptions continued(const ModelOptions& given,
                       const std::vector<std::pair<std::string, std::string>>& call);

/// The lines of a model that make its state, in canonical form without comments: no outputs, no
/// expectations, no `until`, no precision, and of parameters and definitions those that these use.
std::vector<std::string> state_lines(const std::string& model_text);
/// The name after `model` in a file, or its file name where that cannot be read.
std::string model_name(const std::string& path);
/// `until` of the evolve clause in canonical form, or empty.
std::string until_of(const std::string& model_text);

/// Throws RunError E0851; returns notes on what differs and may.
std::vector<std::string> check_same_model(const runtime::CheckpointHead& then,
                                          const program::Program& now);

}  // namespace vphi::tools
