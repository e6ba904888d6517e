// What the compiler and this machine know of a run, put into a report (runtime/report/report.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "runtime/report/report.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

/// Formulas, parameters, derived equations, units of the axes, remarks, warnings, references.
void take_compilation(vphi::report::Report& report, const Compilation& compilation,
                      const CompileOptions& options);
/// Versions and hardware.
void take_machine(vphi::report::Report& report, const runtime::DeviceInfo& device);

/// The command that makes the run again: the words given, less those that say where results go,
/// with the device and the seed spelled out; without a `seed` the words hold it already.
std::string command_text(const Words& words, const std::string& device,
                         std::optional<std::uint64_t> seed);

/// References of what a model uses: those that the library text states beside an integrator, a
/// stencil or a scheme, and those of the table in citations.cpp.
std::vector<vphi::report::Citation> citations(const Compilation& compilation);

/// Writes beside, then renames; UsageError where it cannot.
void write_page(const std::filesystem::path& path, const std::string& html);

}  // namespace vphi::tools
