// Functions common to most verbs: options of a model, printing errors. What other programs need as
// well is in embed/.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "compiler/compile.hpp"
#include "embed/models.hpp"
#include "embed/overrides.hpp"
#include "embed/prepare.hpp"
#include "embed/target.hpp"
#include "runtime/device/device.hpp"
#include "tools/options.hpp"

namespace vphi::tools {

using embed::call_of;
using embed::continued;
using embed::default_target;
using embed::endless;
using embed::find_model;
using embed::shipped_models;
using embed::target_of;
using embed::try_model;

/// As options of the command line.
struct ModelOptions : embed::Overrides {
  ModelOptions() = default;
  ModelOptions(embed::Overrides given) : Overrides(std::move(given)) {}
  void declare(CommandLine& line);
};

/// A line like those of the language's own diagnostics.
void print_error(const std::string& code, const std::string& message, const std::string& hint = {});
/// Prints the diagnostics of a compilation on `to`; true where it has errors.
bool report(const Compilation& compilation, std::FILE* to = stderr);
/// After errors: returns the exit status, and prints {"ok": false, "diagnostics": [...]} for
/// --json.
int refused(const Compilation& compilation, bool json);
bool terminal(std::FILE* stream);

}  // namespace vphi::tools
