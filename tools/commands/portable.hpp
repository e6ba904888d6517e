// Program files: a compiled model that is run on another machine, without its text.
//
// `vphi emit MODEL --to program` writes one and `vphi run FILE` runs it. The file is one JSON
// object: a compiled program (program/json.hpp) with the kernels' text for one kind of device, a
// description of this device, the options of the compilation, and a checksum. The kernels' text is
// compiled where the program runs. Files that the program reads (initial values, gauge
// configurations, matrices) are not included. They are found by their paths, which are relative to
// the program file where they are below its folder, otherwise absolute.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "tools/model.hpp"
#include "tools/running/run_folder.hpp"

namespace vphi::tools {

struct PortableProgram {
  std::string path;  ///< path of the program file
  program::Program program;
  emit::TargetInfo made_for;
  /// Options of the command that made it, in the form stored in checkpoints
  /// (embed/overrides.hpp).
  std::vector<std::pair<std::string, std::string>> call;
  RunIdentity identity;            ///< identity of its runs: that of the model with these options
  std::vector<std::string> notes;  ///< notes for the results of every run
  bool endless = false;            ///< nothing ends its run
};

/// Whether a file is a program and not a model: its name ends in .json, or its text begins as JSON
/// does.
bool is_program_file(const std::string& path);

/// The text of a program file that will be stored in `folder`; an empty `folder`: all paths are
/// absolute. `compilation` holds a program; `model` is the path it was made from.
std::string portable_text(const Compilation& compilation, const emit::TargetInfo& made_for,
                          const std::string& model, const ModelOptions& options,
                          const std::filesystem::path& folder);

/// Throws RunError E0840 where the file is no program, damaged, or of another format, and E0841
/// where a file that the program reads is missing.
PortableProgram read_portable(const std::string& path);

/// The device to open for `asked`, the argument of --device. Throws RunError E0803 for another
/// kind.
std::string device_of(const PortableProgram& portable, const std::string& asked);

/// Throws RunError E0803 where the device cannot run the program's kernels, E0802 where its memory
/// is too small for the instances of a launch. Returns notes on admissible differences.
std::vector<std::string> check_device(const PortableProgram& portable,
                                      const runtime::DeviceInfo& device);

using embed::notes_for_results;

/// Throws UsageError for an option that would change the compiled program.
void refuse_model_options(const ModelOptions& given, const std::string& path);

}  // namespace vphi::tools
