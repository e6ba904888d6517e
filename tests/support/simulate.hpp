// Runs a model text as the command does, for tests: compiles it for a device, runs it, and returns
// the result.
//
// An error in the model throws std::runtime_error with the rendered diagnostics, so that the test
// shows the reason.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/run.hpp"

namespace vphi::testing {

struct Simulation {
  std::string device = "native";
  std::string lattice, until, precision;
  std::int64_t steps = -1;
  std::int64_t batch = 0;  ///< instances of a sweep at once; 0: all
  std::vector<std::pair<std::string, std::string>> set;
  bool keep_state = false;
  std::string out = {};  ///< folder for files; empty: none are written
  bool contract = true;  ///< fused multiply-add allowed
};

/// One device of each kind per process; null where it cannot be opened.
runtime::Device* device(const std::string& id);

Compilation compile_file(const std::string& path, const Simulation& setup);
/// Compiles a text as it is, under the name model.vphi.
Compilation compile_text(const std::string& text, const Simulation& setup);
/// What the compiler says of a text; empty where it accepts it.
std::string refusal_of_text(const std::string& text);

/// Runs a compiled program on the device of `setup`.
runtime::RunResult run_program(const program::Program& program, const Simulation& setup);
runtime::RunResult run_file(const std::string& path, const Simulation& setup);
runtime::RunResult run_text(const std::string& text, const Simulation& setup);

/// Path of a shipped model: "cosmology/preheating".
std::string shipped(const std::string& name);

/// A number for a model's text, with every digit.
std::string exact(double value);

/// The largest magnitude of a scalar in a series; the test fails where the run did not write it.
double largest(const runtime::RunResult& result, const std::string& name);

/// Last value of a scalar; the test fails where the run did not write it.
double last(const runtime::RunResult& result, const std::string& name);

}  // namespace vphi::testing
