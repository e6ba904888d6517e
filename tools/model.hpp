// What most verbs share: finding a model, compiling it for a device, showing what went wrong.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "tools/options.hpp"

namespace vphi::tools {

/// A path as it stands, with ".vphi" behind it, or the bare name of a shipped model ("preheating");
/// nothing where there is no such file.
std::optional<std::string> try_model(const std::string& argument);
/// The same, or UsageError with what may have been meant: a file of the folder, a shipped model, or
/// one of `words`.
std::string find_model(const std::string& argument, const std::vector<std::string>& words = {});
/// "name" and path of each shipped model, by name.
std::vector<std::pair<std::string, std::string>> shipped_models();

/// Options that change the model without touching its text; `apply` checks and takes them over.
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
/// Whether nothing ends its run: neither `steps` nor `until` is given.
bool endless(const Compilation& compilation);
/// Where `report` found errors: the status, and with --json {"ok": false, "diagnostics": [...]}.
int refused(const Compilation& compilation, bool json);
bool terminal(std::FILE* stream);

}  // namespace vphi::tools
