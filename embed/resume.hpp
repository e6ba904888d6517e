// Admissible changes between the parts of a run that continues from a checkpoint.
//
// A run may continue with another end (`until`, --until, --steps), other outputs and expectations,
// another device or precision, other comments and titles. Everything that enters the state must be
// the same: all other lines of the model, the parameters in them, lattice, seed. Otherwise
// `check_same_model` throws RunError E0851 with the first line or parameter that differs.
#pragma once

#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/state/checkpoints.hpp"

namespace vphi::embed {

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

/// Sets `options` to continue from a checkpoint; `options.tell` gets the notes on differences.
/// `until`: the end given outside of the model, or empty. Throws where the model is another one.
void go_on(const runtime::FoundCheckpoint& from, const program::Program& program,
           const std::string& until, runtime::RunOptions& options);

}  // namespace vphi::embed
