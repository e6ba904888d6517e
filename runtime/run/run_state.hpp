// A run in several calls, some steps at a time.
//
// `run` (run.hpp) is start, advance to the end, finish. Outputs, checks and checkpoints happen at
// the steps where they are due, and the results are the same bits for any division of the steps
// among calls. Between two calls the state may be read and written through `session`. A Run owns
// its memory on the device; the Program, the Device and the objects that its options point to must
// outlive it. Throws as `run` does; afterwards it can only be destroyed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "runtime/run/run.hpp"

namespace vphi::runtime {

class Run {
 public:
  Run(const program::Program& program, Device& device, const RunOptions& options = {});
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Makes the first state and its outputs. Must be called once, before the other functions.
  void start();
  /// Makes at most `steps` steps; -1: to the end. Returns the number of steps made: fewer where the
  /// run is over or was interrupted. A sweep in several parts must go to its end (else
  /// std::logic_error).
  std::int64_t advance(std::int64_t steps);
  /// Waits for steps that `advance` has left in the queue (RunOptions::leave_queued) and checks
  /// what they made: before `session` is used.
  void look();
  std::int64_t queued() const;  ///< steps that it would wait for
  /// The present state, in the memory of the host: RunOptions::resume of another Run, which goes on
  /// from here. `same_model`: whether its program differs in the end of the run alone; otherwise
  /// conserved quantities are compared with their values now.
  std::shared_ptr<const SavedState> save(bool same_model);
  /// Writes the present state into a checkpoint of its own, which refers to no result files.
  /// Throws BrokenState where it has a number that is not finite, io::ResultsError where the file
  /// cannot be written; a file of that name is then left as it was.
  void save_to(const std::filesystem::path& path, const ModelAsWritten& model);
  /// Gives the rate of the scale factor, a scalar of this name, the value at which the Friedmann
  /// equation holds for the present fields. Throws RunError E0815 where there is none.
  void restart_expansion(const std::string& rate);
  /// Makes the values and outputs at the end and completes the files. Must be called once, last.
  RunResult finish();

  /// The files of results, for RunOptions::files of another Run, which goes on from here; null
  /// where there are none.
  std::shared_ptr<io::Results> open_files() const;

  bool over() const;         ///< its end is reached
  bool interrupted() const;  ///< a stop was requested
  std::int64_t step() const;
  double time() const;
  std::int64_t parts() const;  ///< of a sweep that memory does not hold at once
  Session& session();          ///< of the part that runs now

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vphi::runtime
