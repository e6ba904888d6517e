// The output folder of a run: which run it belongs to, its lock, and what happens to old results.
//
// A run locks its folder (io::FolderLock) before it looks at it. `run.json` in the folder says
// which run it belongs to: the model file, the options that change the model, and how the run
// ended. Two runs are the same for a folder where these options agree and the model is the same
// file, or a copy with the same physics; a model that was edited in place is the same file.
//
// Without --out the folder is results/NAME, or, where that belongs to another run, the first of
// results/NAME-2, -3, ... that is free or its own. With --out a folder of another run is refused
// (E0854), and so is any folder that a running process holds (E0855).
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

/// What tells the runs of a folder apart.
struct RunIdentity {
  std::string model;                 ///< the name in the file
  std::string file;                  ///< absolute path
  std::string physics;               ///< digest of the lines that make the state
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
  std::string out;  ///< --out; empty: the usual place
  RunIdentity identity;
  bool restart = false;   ///< earlier results may go, whosever they are
  bool resuming = false;  ///< goes on with what is there
};

class RunFolder {
 public:
  /// Finds and locks the folder. Throws RunError E0854, E0855.
  explicit RunFolder(FolderWish wish);

  const std::filesystem::path& path() const { return path_; }
  /// What the user should hear of the choice.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Refuses to discard an unfinished run that has computed for more than a minute (E0852), and
  /// notes one that has computed for less.
  void check_unfinished();
  /// The run goes on with what is there.
  void resumes() { wish_.resuming = true; }
  /// Options of the first part are known now.
  void takes_over(RunIdentity identity) { now_.identity = std::move(identity); }

  /// The run is ready for its first step: earlier results are moved aside.
  void begin(const program::Program& program);
  /// It has ended, at its end or stopped before.
  void end(bool stopped);
  /// The run has failed; returns a note on earlier results, if there are any.
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

/// The folder whose checkpoint a run without --out and --resume=DIR goes on from. Throws RunError
/// E0850 where several could be meant.
std::filesystem::path folder_to_resume(const RunIdentity& identity);

}  // namespace vphi::tools
