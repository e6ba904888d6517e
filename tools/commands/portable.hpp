// Program files: a model compiled here, to be run elsewhere without its text being compiled again.
//
// `vphi emit MODEL --to program` writes one and `vphi run FILE` runs it. The file is one JSON
// object: a compiled program (program/json.hpp) with the kernels' text for one kind of device, what
// that device is, the options that the program was compiled with, and a checksum of it all. The
// kernels' text is compiled where the program runs. Files that the program reads (start values,
// gauge configurations, matrices) stay where they are and are found by path: relative to the
// program file where they lie below its folder, else absolute.
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
  std::string path;  ///< of the file
  program::Program program;
  emit::TargetInfo made_for;
  /// Options of the command that made it, as a checkpoint keeps them (tools/running/resume.hpp).
  std::vector<std::pair<std::string, std::string>> call;
  RunIdentity identity;            ///< of its runs: that of the model with these options
  std::vector<std::string> notes;  ///< for the results of every run
  bool endless = false;            ///< nothing ends its run
};

/// A file that is meant as a program and not as a model: it ends in .json or begins as JSON does.
bool is_program_file(const std::string& path);

/// The text of a program file that will lie in `folder`; an empty `folder`: all paths are absolute.
/// `compilation` holds a program; `model` is the path it was made from.
std::string portable_text(const Compilation& compilation, const emit::TargetInfo& made_for,
                          const std::string& model, const ModelOptions& options,
                          const std::filesystem::path& folder);

/// Throws RunError E0840 where the file is no program, damaged, or of another format, and E0841
/// where a file that the program reads is missing.
PortableProgram read_portable(const std::string& path);

/// The device to open for `asked` (what --device says). Throws RunError E0803 for another kind.
std::string device_of(const PortableProgram& portable, const std::string& asked);

/// Throws RunError E0803 where the device cannot run the program's kernels, E0802 where its memory
/// does not hold the instances of a launch. Returns notes on what differs and may.
std::vector<std::string> check_device(const PortableProgram& portable,
                                      const runtime::DeviceInfo& device);

/// What the compiler warned of and every result of its run repeats.
std::vector<std::string> notes_for_results(const Compilation& compilation);

/// Throws UsageError for an option that would change the compiled program.
void refuse_model_options(const ModelOptions& given, const std::string& path);

}  // namespace vphi::tools
