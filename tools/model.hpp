// Functions common to most verbs: finding a model, compiling it for a device, printing errors.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "tools/options.hpp"

namespace vphi::tools {

/// The file for an argument: a path, with or without ".vphi", or the name of a shipped model
/// ("preheating"). Nothing where there is no such file.
std::optional<std::string> try_model(const std::string& argument);
/// The same, but throws UsageError with a suggestion where there is none: a file of the folder, a
/// shipped model, or one of `words`.
std::string find_model(const std::string& argument, const std::vector<std::string>& words = {});
/// "name" and path of each shipped model, by name.
std::vector<std::pair<std::string, std::string>> shipped_models();

/// Options that change the model without an edit of its text.
struct ModelOptions {
  std::vector<std::string> set;
  std::string lattice, until, precision, seed;
  std::int64_t steps = -1, batch = 0;

  void declare(CommandLine& line);
  CompileOptions compile_options() const;
};

emit::TargetInfo target_of(const runtime::DeviceInfo& device);
/// The usual device of a kind, for verbs that only print: "cuda", "opencl", "hip", "native".
emit::TargetInfo default_target(const std::string& kind);

/// A line like those of the language's own diagnostics.
void print_error(const std::string& code, const std::string& message, const std::string& hint = {});
/// Prints the diagnostics of a compilation on `to`; true where it has errors.
bool report(const Compilation& compilation, std::FILE* to = stderr);
/// Whether its run has no end: neither `steps` nor `until` is given.
bool endless(const Compilation& compilation);
/// After errors: returns the exit status, and prints {"ok": false, "diagnostics": [...]} for
/// --json.
int refused(const Compilation& compilation, bool json);
bool terminal(std::FILE* stream);

}  // namespace vphi::tools
