// Decides when checkpoints are written, and writes them (checkpoint.hpp) without delaying the run.
//
// A Checkpoints belongs to one run loop. `keep` takes the state at a whole step: the positions of
// the result files are recorded and arrays are copied from the device; a second thread checks that
// every number is finite and writes the file while the next steps run. Without host memory for a
// copy of the state, arrays are written one by one and the run waits. A checkpoint that cannot be
// written is reported (`RunOptions::tell`) and does not end the run; earlier ones stay.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/run/run.hpp"
#include "runtime/run/state/checkpoint.hpp"

namespace vphi::runtime {

/// The position of a run that only its loop knows.
struct RunPosition {
  std::int64_t step = 0;
  double time = 0;
  double seconds = 0;
  bool finished = false;
  std::vector<double> watched_at_start;
};

/// The state of the checkpoints of a run, passed from one part of a sweep to the next.
struct CheckpointProgress {
  std::int64_t generation = 0;             ///< generation of the last checkpoint
  std::int64_t durable = -1, before = -1;  ///< generations of the last two on disk
  double seconds = 0;                      ///< time spent in steps of earlier parts
};

class Checkpoints {
 public:
  Checkpoints(Session& session, Observer& observer, const RunOptions& options);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  bool on() const { return on_; }
  /// For a new run: removes checkpoints of an earlier run from the folder.
  void begin();
  /// For a further part of a sweep: the checkpoints of the part before are kept until there is a
  /// new one.
  void follow(const CheckpointProgress& kept);
  /// The state for the next part, after `seconds` of this one. Waits for a checkpoint that is being
  /// written.
  CheckpointProgress kept(double seconds);
  /// Sets session and observer to the state of the checkpoint. Throws DamagedCheckpoint, or
  /// RunError E0853 where the program has other arrays or scalars. `accept` may look at the session
  /// and throw before any file of results goes back.
  RunPosition resume(const SavedState& from, bool past_stop, const std::function<void()>& accept);
  /// The present state in the memory of the host, without marks of result files.
  std::shared_ptr<const SavedState> save(const RunPosition& now);
  /// Writes the present state into a file of its own, without marks of result files. False, and no
  /// file, where a number of the state is not finite. Throws io::ResultsError.
  bool write(const RunPosition& now, const std::filesystem::path& path,
             const ModelAsWritten& model);

  /// The next step after `step` at which a checkpoint is due, or -1.
  std::int64_t next(std::int64_t step) const;
  /// Whether a checkpoint is due now, also by a request (KeepOptions::now), which is cleared.
  bool due(std::int64_t step);
  /// Makes a checkpoint. `wait`: returns when it is on disk.
  void keep(const RunPosition& now, bool wait);
  /// Records a completed file. False where the state was not finite and nothing was written.
  bool settle(bool wait);

  std::int64_t last_step() const { return durable_step_; }  ///< of the last on disk, or -1
  const CheckpointFiles& files() const { return files_; }
  const std::vector<std::string>& notes() const { return notes_; }
  double seconds() const { return seconds_; }  ///< time for which the run has waited

 private:
  struct Outcome {
    bool finite = true;
    std::string trouble;
  };
  void note(const std::string& text);
  CheckpointHead head(const RunPosition& now) const;
  CheckpointRun run_part(const RunPosition& now);
  void download(std::vector<std::vector<std::byte>>& to);
  Outcome stream(const std::filesystem::path& path, const CheckpointHead& head,
                 const CheckpointRun& run);

  Session& session_;
  Observer& observer_;
  const RunOptions& options_;
  CheckpointFiles files_;
  bool on_ = false;
  std::vector<int> buffers_;  ///< buffers in checkpoints
  std::vector<std::vector<std::byte>> copy_;
  std::future<Outcome> writing_;
  std::int64_t generation_ = 0, writing_step_ = -1, durable_step_ = -1;
  std::int64_t durable_ = -1, durable_before_ = -1;  ///< generations
  double earlier_seconds_ = 0, seconds_ = 0;
  double last_time_ = 0;  ///< time of the last checkpoint on the steady clock
  std::vector<std::string> notes_;
};

/// The checkpoint to continue from: `place` is a file, or an output folder with one of `model`
/// (empty: of the only model there). It has been checked completely. If it is damaged, the one
/// before is taken, and `notes` says so. Throws RunError E0850 where there is no valid one.
struct FoundCheckpoint {
  std::shared_ptr<const CheckpointReader> reader;
  std::filesystem::path path, out;
  std::vector<std::string> notes;
};
FoundCheckpoint find_checkpoint(const std::filesystem::path& place, const std::string& model);
/// The output folder for `place`.
std::filesystem::path folder_of_checkpoint(const std::filesystem::path& place);
/// Whether there is a checkpoint, valid or not.
bool has_checkpoint(const std::filesystem::path& out, const std::string& model);

/// Free memory of the host in bytes; 0: not known.
std::size_t host_memory_free();

/// Whether all values are finite. `aside`: which of several parts of equal size are skipped; empty:
/// none.
bool all_finite(std::span<const std::byte> bytes, program::Precision precision,
                const std::vector<bool>& aside = {});

}  // namespace vphi::runtime
