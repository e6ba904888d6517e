// Fills the report of a run with facts of the compiler and of this machine
// (runtime/report/report.hpp).
#pragma once

#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "runtime/report/report.hpp"

namespace vphi::embed {

/// Formulas, parameters, derived equations, units of the axes, remarks, warnings, references.
void take_compilation(vphi::report::Report& report, const Compilation& compilation,
                      const CompileOptions& options);
/// Versions and hardware.
void take_machine(vphi::report::Report& report, const runtime::DeviceInfo& device);

/// References for the parts of a model: those in the library text of an integrator, a stencil or a
/// scheme, and those of the table in citations.cpp.
std::vector<vphi::report::Citation> citations(const Compilation& compilation);

/// The report of a run before its first step. `compilation`: null where there is only a program.
vphi::report::Report begin_report(const program::Program& program, const Compilation* compilation,
                                  const CompileOptions& options, const runtime::DeviceInfo& device);
/// Completes the report: results, the fields in its files, the device's ceilings (0: not measured).
void finish_report(vphi::report::Report& report, const program::Program& program,
                   const runtime::RunResult& result, double copy_bandwidth, double flops);

}  // namespace vphi::embed
