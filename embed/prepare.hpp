// Opens the device of a run, or those of its ranks, and compiles the program for them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "embed/ranks.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/rank_group.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

/// A model compiled for one device, or for ranks that share it.
struct Compiled {
  /// As the first rank runs it; without a program where diagnostics have errors.
  std::shared_ptr<Compilation> compilation = std::make_shared<Compilation>();
  std::optional<program::Program> whole = {};         ///< of a lattice that ranks share: all of it
  std::optional<program::Program> other_planes = {};  ///< RunOptions::other_planes
  std::int64_t batch = 0;                             ///< RunOptions::batch

  /// What a run has to know of them, beside the ranks.
  void share(runtime::RunOptions& options) const;

  /// The program as it looks with one device's lattice.
  const program::Program& shown() const { return whole ? *whole : *compilation->program; }
};

/// Devices and program, made at the same time where the program does not depend on the device.
struct Prepared : Compiled {
  std::unique_ptr<runtime::Device> device = {};    ///< null: ranks share the run, or errors
  std::unique_ptr<runtime::RankGroup> ranks = {};  ///< with a device each; null: there is one
  /// Notes that are repeated with the results of the run.
  std::vector<std::string> in_results = {};
  /// The run has no end: neither `until` nor steps are given.
  bool endless = false;

  /// The device of the first rank, or the only one.
  runtime::Device& first() const { return ranks ? ranks->device() : *device; }
  int size() const { return ranks ? ranks->size() : 1; }
  /// What a run has to know of the ranks.
  void share(runtime::RunOptions& options) const;
};

/// Opens the device ("auto", "native", "cuda:1"), or those of several ranks ("cuda:0,1"; `ranks`
/// and devices_of_ranks in ranks.hpp), and compiles for them. A sweep of more instances than memory
/// holds is compiled for as many as fit. Throws Error and runtime::DeviceError. Errors of the model
/// are in the compilation, and take precedence over a single device that does not open.
Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 const std::string& device, const RanksWish& ranks = {});
/// The same for ranks that are there; `cut`: RanksWish. The other ranks compile nothing: the first
/// one does.
Prepared prepare(const dsl::ModelSource& model, const CompileOptions& options,
                 std::unique_ptr<runtime::RankGroup> ranks, const std::string& cut = {});
/// Another form of a model for the same ranks. A batch is never made smaller by their memory where
/// `options` have one.
Compiled compile_for_group(const dsl::ModelSource& model, CompileOptions options,
                           runtime::RankGroup& ranks, const std::string& cut = {},
                           const Compiler& compiler = compile_model);

/// Warnings of the compiler that every result of the run repeats.
std::vector<std::string> notes_for_results(const Compilation& compilation);
/// Whether its run has no end: neither `steps` nor `until` is given.
bool endless(const Compilation& compilation);
/// Whether a condition on the state ends it, so that the number of steps follows from them alone.
bool ends_by_state(const Compilation& compilation);

}  // namespace vphi::embed
