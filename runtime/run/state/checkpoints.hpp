// When checkpoints are written, and how without delaying the run: policy on top of checkpoint.hpp.
//
// A Checkpoints belongs to one run loop. `keep` takes the state at a whole step: the positions of
// the result files are recorded and arrays are copied from the device; a second thread checks that
// every number is finite and writes the file while the next steps run. Without host memory for a
// copy of the state, arrays are written one by one and the run waits. A checkpoint that cannot be
// written is reported (`RunOptions::tell`) and does not end the run; earlier ones stay.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/run/run.hpp"
#include "runtime/run/state/checkpoint.hpp"

namespace vphi::runtime {

/// Where a run stands, as far as the loop alone knows it.
struct RunPosition {
  std::int64_t step = 0;
  double time = 0;
  double seconds = 0;
  bool finished = false;
  std::vector<double> watched_at_start;
};

/// How far the checkpoints of a run are, handed from one part of a sweep to the next.
struct CheckpointProgress {
  std::int64_t generation = 0;             ///< of the last one
  std::int64_t durable = -1, before = -1;  ///< of the last two on disk
  double seconds = 0;                      ///< in steps, of the parts before
};

class Checkpoints {
 public:
  Checkpoints(Session& session, Observer& observer, const RunOptions& options);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  bool on() const { return on_; }
  /// A new run: checkpoints of an earlier one in this folder are of no use any more.
  void begin();
  /// A further part of a sweep: the checkpoints of those before stay until it has its own.
  void follow(const CheckpointProgress& kept);
  /// Where the next part begins, after `seconds` of this one. Waits for what is being written.
  CheckpointProgress kept(double seconds);
  /// Puts session and observer where the checkpoint was made. Throws RunError E0853 where this
  /// program has other arrays or scalars, DamagedCheckpoint.
  RunPosition resume(const CheckpointReader& from, bool past_stop);

  /// The next step after `step` at which a checkpoint is wanted, or -1.
  std::int64_t next(std::int64_t step) const;
  /// Whether one is wanted now; a wish by signal is taken.
  bool due(std::int64_t step);
  /// `wait`: returns when it is on the disk.
  void keep(const RunPosition& now, bool wait);
  /// Takes note of a file that has become complete. False where the state turned out not to be
  /// finite: nothing was written.
  bool settle(bool wait);

  std::int64_t last_step() const { return durable_step_; }  ///< of the last on disk, or -1
  const CheckpointFiles& files() const { return files_; }
  const std::vector<std::string>& notes() const { return notes_; }
  double seconds() const { return seconds_; }  ///< that the run has waited

 private:
  struct Outcome {
    bool finite = true;
    std::string trouble;
  };
  void note(const std::string& text);
  CheckpointHead head(const RunPosition& now) const;
  void download(std::vector<std::vector<std::byte>>& to);
  Outcome stream(const CheckpointHead& head, const CheckpointRun& run);

  Session& session_;
  Observer& observer_;
  const RunOptions& options_;
  CheckpointFiles files_;
  bool on_ = false;
  std::vector<int> buffers_;  ///< those that are kept
  std::vector<std::vector<std::byte>> copy_;
  std::future<Outcome> writing_;
  std::int64_t generation_ = 0, writing_step_ = -1, durable_step_ = -1;
  std::int64_t durable_ = -1, durable_before_ = -1;  ///< generations
  double earlier_seconds_ = 0, seconds_ = 0;
  double last_time_ = 0;  ///< on the steady clock
  std::vector<std::string> notes_;
};

/// The checkpoint to continue from: `place` is a file, or an output folder with one of `model`
/// (empty: of any one model). Everything in it has been checked. If it is damaged, the one before
/// is taken, and `notes` says so. Throws RunError E0850 where there is none, or none that is sound.
struct FoundCheckpoint {
  std::shared_ptr<const CheckpointReader> reader;
  std::filesystem::path path, out;
  std::vector<std::string> notes;
};
FoundCheckpoint find_checkpoint(const std::filesystem::path& place, const std::string& model);
/// The output folder that `place` means.
std::filesystem::path folder_of_checkpoint(const std::filesystem::path& place);
/// Whether there is any, sound or not.
bool has_checkpoint(const std::filesystem::path& out, const std::string& model);

/// Bytes the host can still give; 0: not known.
std::size_t host_memory_free();

/// All values are numbers. `aside`: parts of equal size that are not looked at; empty: none.
bool all_finite(std::span<const std::byte> bytes, program::Precision precision,
                const std::vector<bool>& aside = {});

}  // namespace vphi::runtime
