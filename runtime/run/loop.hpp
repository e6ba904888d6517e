// The time loop of one run, or of one part of a sweep.
//
// A Loop owns the session, the outputs and the checkpoints of its run, and moves it by chunks of
// steps of about a tenth of a second. Between two chunks it looks at the state, reports progress
// and writes checkpoints. Throws RunError. It is used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/run/bad_site.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/expansion.hpp"
#include "runtime/run/observe.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/starts/search.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "runtime/run/step_growth.hpp"

namespace vphi::runtime {

/// Where a run stands between two chunks of steps.
class Loop {
 public:
  /// `ensemble`: null where the model has no sweep. `kept`: of the part before, if there was one.
  /// `of_a_rank`: the program as each of options.ranks runs it.
  Loop(const program::Program& program, Device& device, const RunOptions& options,
       Ensemble* ensemble = nullptr, std::int64_t part = 0,
       const CheckpointProgress* kept = nullptr, const program::Program* of_a_rank = nullptr);

  /// The first state, or that of the checkpoint, with what belongs to it.
  void begin();

  /// Steps until the run is over, is interrupted, or stands at step `limit` (-1: none).
  void go_on(std::int64_t limit);

  /// Closing values, the outputs at the end, the last checkpoint; no step follows.
  RunResult finish();

  /// Whether no step follows, but for an interruption.
  bool over() const { return stopped_ || (end_ >= 0 && step_ >= end_); }
  bool interrupted() const;
  std::int64_t step() const { return step_; }
  double time();
  /// Waits for the steps that `go_on` has left in the queue (RunOptions::leave_queued), and checks
  /// the numbers that they made. Throws as `go_on`.
  void look();
  std::int64_t queued() const { return queued_; }  ///< steps that `look` would wait for
  Session& session() { return session_; }
  const std::shared_ptr<io::Results>& open_files() const { return observer_.open_files(); }

  /// The present state, in the memory of the host. `same_model`: whether the run that goes on from
  /// it compares its drifts with the start of this one.
  std::shared_ptr<const SavedState> save(bool same_model);
  /// The same into a file of its own. Throws BrokenState, io::ResultsError.
  void save_to(const std::filesystem::path& path, const ModelAsWritten& model);
  /// The rate of the scale factor, a scalar of this name, from the Friedmann equation for the
  /// present fields, in each instance. Throws RunError E0815 where none fulfils it, and leaves the
  /// rate as it was.
  void restart_expansion(const std::string& rate);

  /// For the part that follows.
  CheckpointProgress kept() { return checkpoints_.kept(seconds_); }

 private:
  using Clock = std::chrono::steady_clock;

  static std::int64_t first_instance(const Ensemble* ensemble, std::int64_t part);

  void start();

  void resume();
  void check_steps();

  /// Computes anew what steps keep beside a state that others may have written.
  void follow_state();

  void keep(bool wait);

  /// Whoever looks on may pause or stop the run here.
  void ask_onlooker();

  void update();

  /// A run ends when all its instances have.
  bool all_stopped();

  double largest(int slot);

  /// About so many steps, ended where `multi_step` can begin.
  std::int64_t up_to_a_multi_step(std::int64_t steps) const;

  /// Steps up to the next output, the end, or the time after which the host looks again.
  void chunk();
  /// Whether `count` steps, after which an output is due at step `due`, need no look at what they
  /// make before the caller goes on.
  bool may_stay_queued(std::int64_t count, std::int64_t due, std::int64_t kept) const;
  void wait();

  /// A scalar that is NaN starts a search for the site it came from. Quotients of an output
  /// may be 0/0 while the state is sound; such slots are not looked at twice.
  void check_numbers(std::int64_t good_step);

  void check_state(std::int64_t good_step);

  /// Stops an instance of a sweep whose state has become NaN and leaves it out; the others go on.
  void set_aside(std::int64_t instance, const std::string& message);

  // ---- what makes every later number wrong: looked for at outputs, checkpoints, and once a second

  bool watches() const { return p_.unsound_slot >= 0 || p_.expansion.scale_slot >= 0; }

  void watch();

  /// Checks the scale factor as `watch` or an output has computed it last.
  void check_expansion();

  bool none_left() const;

  // ---- conservation laws: what a state is recovered by

  /// Checks the slot that `watch` has computed last. Throws where a site has no primitive
  /// variables; in a sweep, only when no instance is left.
  void check_recovery();

  std::string recovery_hint() const;

  bool recoverable();

  /// Looks for the first step whose state has a site that cannot be recovered. Where that state is
  /// NaN already the step is the cause, which the search for NaN reports.
  [[noreturn]] void unrecovered();

  /// Throws where a site of the state holds NaN; in a sweep, only when no instance is left.
  void check_state(std::int64_t good_step, std::int64_t instance);

  std::string last_checkpoint() const;

  /// Throws where the state grows by an instability of the step, not of the equations (StepGrowth);
  /// the results are kept.
  void check_growth();

  /// Throws where a conserved quantity has changed by many orders of magnitude: the solution is
  /// wrong and will soon be NaN. A quantity that is not finite at the start is an error as well.
  void check_runaway();

  /// Keeps the first values, relative to which drifts are shown.
  void remember_start();

  void report_progress(bool last);

  /// The progress of the run, without the watched scalars.
  Progress progress() const;

  /// Site updates per second. The first chunk touches memory for the first time and is left out
  /// where others follow.
  double rate() const;

  RunResult result();

  const program::Program& p_;
  const RunOptions& options_;
  Clock::time_point created_ = Clock::now(), begun_, last_progress_, last_flush_;
  int threads_;
  std::unique_ptr<Session> opened_;
  Session& session_;
  Observer observer_;
  Checkpoints checkpoints_;
  GoodStates good_;
  std::string rough_recovery_;  ///< a note: `recover` has not reached its tolerance
  WatchedGrowth growth_;
  Ensemble* ensemble_ = nullptr;
  std::int64_t instances_ = 1, first_instance_ = 0;  ///< of this part
  std::int64_t end_ = -1, step_ = 0, size_ = 1;
  std::int64_t limit_ = -1;      ///< of `go_on`
  std::int64_t last_count_ = 0;  ///< steps of the chunk before
  std::int64_t queued_ = 0;      ///< steps up to step_ that nobody has waited for
  double step_seconds_ = 0;      ///< of one step in the last chunk that was timed; 0: none was
  std::int64_t first_ = 0;       ///< step at which this part of the run began
  std::int64_t warm_up_steps_ = 0;
  double time_ = 0, seconds_ = 0, warm_up_ = 0, first_step_ = 0;
  bool stopped_ = false, stop_wished_ = false;
  const bool trials_;                     ///< steps may be rejected, or wait for an output
  bool follows_ = false;                  ///< there was a part before
  double earlier_ = 0;                    ///< seconds of the parts before
  std::vector<double> watched_at_start_;  ///< of Program::progress
  std::vector<bool> harmless_;            ///< [slot][instance]
  WorstResidual residual_;
};

}  // namespace vphi::runtime
