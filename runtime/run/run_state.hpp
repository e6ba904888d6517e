// A run that is driven from outside, some steps at a time.
//
// `run` (run.hpp) is start, advance to the end, finish. Outputs, checks and checkpoints happen at
// the steps where they are due, however the steps are divided among calls, and the same bits come
// out. Between two calls the state may be read and written through `session`. A Run owns its
// memory on the device; the Program and the Device must outlive it, and so must what its options
// point to. Throws as `run` does; afterwards it can only be destroyed.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/run/run.hpp"

namespace vphi::runtime {

class Run {
 public:
  Run(const program::Program& program, Device& device, const RunOptions& options = {});
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Once, before all else: the first state and its outputs.
  void start();
  /// At most so many steps; -1: to the end. Returns how many were made: fewer where the run is over
  /// or was interrupted. A sweep in several parts goes to its end alone (else std::logic_error).
  std::int64_t advance(std::int64_t steps);
  /// Once, after all else: closing values and outputs, files complete.
  RunResult finish();

  bool over() const;         ///< its end is reached
  bool interrupted() const;  ///< somebody wished it to stop
  std::int64_t step() const;
  double time() const;
  std::int64_t parts() const;  ///< of a sweep that memory does not hold at once
  Session& session();          ///< of the part that runs now

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vphi::runtime
