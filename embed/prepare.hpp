// Opens the device of a run and compiles the program for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"

namespace vphi::embed {

/// Device and program, made at the same time where the program does not depend on the device.
struct Prepared {
  std::unique_ptr<runtime::Device> device;  ///< null or open where the model has errors
  Compilation compilation;                  ///< without a program where diagnostics have errors
  /// Notes that are repeated with the results of the run.
  std::vector<std::string> in_results = {};
  /// The run has no end: neither `until` nor steps are given.
  bool endless = false;
};

/// Opens the device ("auto", "native", "cuda:1") and compiles for it. A sweep of more instances
/// than memory holds is compiled for as many as fit. Throws runtime::DeviceError. Errors of the
/// model are in the compilation, and take precedence over a device that does not open.
Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 const std::string& device);

/// Warnings of the compiler that every result of the run repeats.
std::vector<std::string> notes_for_results(const Compilation& compilation);
/// Whether its run has no end: neither `steps` nor `until` is given.
bool endless(const Compilation& compilation);

}  // namespace vphi::embed
