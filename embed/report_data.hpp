// What the compiler and this machine know of a run, put into a report (runtime/report/report.hpp).
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

/// References of what a model uses: those that the library text states beside an integrator, a
/// stencil or a scheme, and those of the table in citations.cpp.
std::vector<vphi::report::Citation> citations(const Compilation& compilation);

/// What is known of a run before its first step. `compilation`: null where only the program is
/// there.
vphi::report::Report begin_report(const program::Program& program, const Compilation* compilation,
                                  const CompileOptions& options, const runtime::DeviceInfo& device);
/// What it has come to: results, the fields in its files, the device's ceilings (0: not measured).
void finish_report(vphi::report::Report& report, const program::Program& program,
                   const runtime::RunResult& result, double copy_bandwidth, double flops);

}  // namespace vphi::embed
