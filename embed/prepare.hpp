// From a model's text to a device and a program that fits it: what stands before every run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"

namespace vphi::embed {

/// Device and program, made side by side where the program does not depend on the device.
struct Prepared {
  std::unique_ptr<runtime::Device> device;   ///< null where the model has mistakes, or open anyway
  Compilation compilation;                   ///< without a program where diagnostics have errors
  std::vector<std::string> in_results = {};  ///< said with the results of the run
  bool endless = false;                      ///< nothing ends the run: neither `until` nor steps
};

/// Opens the device ("auto", "native", "cuda:1") and compiles for it. A sweep of more instances
/// than memory holds is compiled for as many as fit. Throws runtime::DeviceError; mistakes of the
/// model are in the compilation and come before a device that does not open.
Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 const std::string& device);

/// What the compiler warned of and every result of its run repeats.
std::vector<std::string> notes_for_results(const Compilation& compilation);
/// Whether nothing ends its run: neither `steps` nor `until` is given.
bool endless(const Compilation& compilation);

}  // namespace vphi::embed
