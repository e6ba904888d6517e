// The output folder of a run: its owner, its lock, and the treatment of old results.
//
// A run locks its folder (io::FolderLock) before it reads it. `run.json` in the folder describes
// the run that owns it: the model file, the options that change the model, and how the run ended.
// Two runs count as the same where these options agree and the model is the same file, even if
// edited, or a copy with the same physics.
//
// Without --out the folder is results/NAME, or, where that belongs to another run, the first of
// results/NAME-2, -3, ... that is free or its own. With --out a folder of another run is refused
// (E0854), and so is any folder that a running process has locked (E0855).
//
// Results in the folder are moved to `previous-results` when the new run is ready for its first
// step, and removed when it has ended. A run that fails before it has written anything moves them
// back; one that fails later leaves them there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/files/folder_lock.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

/// Distinguishes the runs of a folder.
struct RunIdentity {
  std::string model;                 ///< the name in the file
  std::string file;                  ///< absolute path
  std::string physics;               ///< hash of the lines that determine the state
  std::vector<std::string> options;  ///< "--set g=2", "--lattice 64^3", sorted

  bool same_as(const RunIdentity& other) const;
  /// "chaotic.vphi --set g=2".
  std::string text() const;
};
RunIdentity identity_of(const std::string& path, const ModelOptions& options);

/// `run.json`.
struct RunRecord {
  enum class State { Running, Finished, Stopped, Failed };
  RunIdentity identity;
  State state = State::Running;
  std::int64_t began = 0;  ///< seconds since 1970
  std::vector<std::string> outputs;
};
std::optional<RunRecord> read_record(const std::filesystem::path& folder);

struct FolderWish {
  std::string out;  ///< --out; empty: the default folder
  RunIdentity identity;
  bool restart = false;   ///< earlier results may be discarded, whatever run they belong to
  bool resuming = false;  ///< continues the run in the folder
};

class RunFolder {
 public:
  /// Finds and locks the folder. Throws RunError E0854, E0855.
  explicit RunFolder(FolderWish wish);

  const std::filesystem::path& path() const { return path_; }
  /// Notes for the user on the choice of the folder.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Refuses to discard an unfinished run of more than a minute (E0852), and notes a shorter one.
  void check_unfinished();
  /// Sets that the run in the folder is continued.
  void resumes() { wish_.resuming = true; }
  /// Sets the identity once the options of the first part of the run are known.
  void takes_over(RunIdentity identity) { now_.identity = std::move(identity); }

  /// Called when the run is ready for its first step: moves earlier results to `previous-results`.
  void begin(const program::Program& program);
  /// Called when the run has ended; `stopped`: before its end.
  void end(bool stopped);
  /// Called when the run has failed; returns a note on earlier results, if there are any.
  std::optional<std::string> fail();

 private:
  bool take(const std::filesystem::path& folder, bool usual);
  std::vector<std::filesystem::path> leavings(const std::vector<std::string>& outputs) const;
  void write(RunRecord::State state);
  void put_back();

  FolderWish wish_;
  std::filesystem::path path_;
  io::FolderLock lock_;
  std::optional<RunRecord> before_;
  RunRecord now_;
  std::vector<std::string> notes_;
  bool begun_ = false, moved_ = false;
};

/// The folder with the checkpoint for a run without --out and --resume=DIR. Throws RunError E0850
/// where there are several candidates.
std::filesystem::path folder_to_resume(const RunIdentity& identity);

}  // namespace vphi::tools
