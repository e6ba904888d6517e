// Adds data of the compiler and of this machine to a report (runtime/report/report.hpp).
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

/// The command that reproduces the run: the given words without those for the output folder, with
/// explicit device and seed. Without `seed` the words contain it already.
std::string command_text(const Words& words, const std::string& device,
                         std::optional<std::uint64_t> seed);

/// References for the methods of a model: those in the library next to an integrator, a stencil or
/// a scheme, and those of the table in citations.cpp.
std::vector<vphi::report::Citation> citations(const Compilation& compilation);

/// Writes a temporary file and renames it. Throws UsageError where it cannot be written.
void write_page(const std::filesystem::path& path, const std::string& html);

}  // namespace vphi::tools
