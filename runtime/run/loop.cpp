// The time loop; see run.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/bad_site.hpp"
#include "runtime/run/chain_averages.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/expansion.hpp"
#include "runtime/run/number_text.hpp"
#include "runtime/run/observe.hpp"
#include "runtime/run/ranks/ranked_session.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/run_state.hpp"
#include "runtime/run/starts/search.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "runtime/run/step_growth.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double kChunkSeconds = 0.1;  ///< seconds of steps queued at once, about
constexpr double kFlushSeconds = 2;
constexpr double kSearchSeconds = 60;  ///< for the step at which a run broke
constexpr double kRunaway = 1e8;       ///< growth of a conserved quantity that ends a run
constexpr std::chrono::milliseconds kPauseInterval{50};

/// On one device, or on those of all ranks.
std::unique_ptr<Session> open_session(const Program& program, Device& device,
                                      const RunOptions& options, const Program* of_a_rank,
                                      const SessionOptions& how) {
  if (of_a_rank == nullptr) return std::make_unique<Session>(program, device, how);
  return std::make_unique<RankedSession>(*of_a_rank, program, *options.ranks, how);
}

}  // namespace

/// Where a run stands between two chunks of steps.
class Loop {
 public:
  /// `ensemble`: null where the model has no sweep. `kept`: of the part before, if there was one.
  /// `of_a_rank`: the program as each of options.ranks runs it.
  Loop(const Program& program, Device& device, const RunOptions& options,
       Ensemble* ensemble = nullptr, std::int64_t part = 0,
       const CheckpointProgress* kept = nullptr, const Program* of_a_rank = nullptr)
      : p_(program),
        options_(options),
        threads_(options.threads > 0 ? options.threads : usable_threads()),
        opened_(open_session(program, device, options, of_a_rank,
                             {threads_, true, first_instance(ensemble, part)})),
        session_(*opened_),
        observer_(session_, options.out, threads_, options.onlooker,
                  options.keep.on ? checkpoint_files(options.out, program.model).folder
                                  : std::filesystem::path(),
                  ensemble, options.tell),
        checkpoints_(session_, observer_, options),
        good_(session_),
        growth_(session_),
        ensemble_(ensemble),
        follows_(kept != nullptr) {
    if (kept != nullptr) checkpoints_.follow(*kept), earlier_ = kept->seconds;
    if (ensemble_ != nullptr) ensemble_->begin(part, session_);
    instances_ = ensemble_ != nullptr ? ensemble_->count_of(part) : 1;
    first_instance_ = first_instance(ensemble, part);
    end_ = options.steps >= 0 ? options.steps : program.steps;
    if (end_ < 0 && program.stop_slot < 0)
      throw RunError("E0804", "the run has no end",
                     "give `until = ...` in the model, or --until or --steps");
  }

  /// The first state, or that of the checkpoint, with what belongs to it.
  void begin() {
    if (options_.resume)
      resume();
    else
      start();
    if (ensemble_ == nullptr) good_.remember(step_);
    begun_ = last_progress_ = last_flush_ = Clock::now();
  }

  /// Steps until the run is over, is interrupted, or stands at step `limit` (-1: none).
  void go_on(std::int64_t limit) {
    limit_ = limit;
    stop_wished_ = false;  // an earlier request to stop is done
    while (!over() && (limit < 0 || step_ < limit) && !interrupted()) {
      chunk();
      if (ensemble_ == nullptr) {
        if (watches() && good_.due()) watch();
        good_.remember(step_);
      }
      report_progress(false);
      ask_onlooker();
      if (growth_.waits()) growth_.begin(step_, instances_);
      if (!checkpoints_.settle(false)) check_state(first_);
      if (checkpoints_.due(step_) && !over()) {
        if (watches()) watch();
        keep(false);
      }
    }
  }

  /// Closing values, the outputs at the end, the last checkpoint; no step follows.
  RunResult finish() {
    // Before the closing values, which a run that goes on from here will not have.
    const double worth = options_.keep.at_end_after;
    if (watches()) watch();
    const double spent = earlier_ + seconds_;
    // An earlier checkpoint must be replaced: it would be one of a run that has not ended.
    const bool wanted = worth >= 0 && (spent >= worth || checkpoints_.last_step() >= 0);
    if (over() ? step_ > first_ && wanted : interrupted()) keep(true);
    if (step_ > 0) observer_.observe(step_, true);
    update();
    check_numbers(step_);
    if (p_.watch.empty() && p_.outputs.empty()) check_state(step_);
    check_growth();
    if (ensemble_ != nullptr && (over() || ensemble_->last_part()))
      ensemble_->end_part({step_, time_});
    report_progress(true);
    observer_.finish();
    // Read before kernels are timed, since that advances the chain.
    const std::vector<double> closing = p_.chain ? session_.scalars() : std::vector<double>();
    RunResult r = result();
    if (!p_.chain) return r;
    r.acceptance = acceptance(p_, closing, instances_, step_);
    for (const auto& note : refused_all(p_, closing, first_instance_, instances_, step_))
      ensemble_ != nullptr ? ensemble_->note(note) : r.notes.push_back(note);
    return r;
  }

  /// Whether no step follows, but for an interruption.
  bool over() const { return stopped_ || (end_ >= 0 && step_ >= end_); }
  bool interrupted() const {
    return stop_wished_ || (options_.interrupt != nullptr && *options_.interrupt);
  }
  std::int64_t step() const { return step_; }
  double time() const { return time_; }
  Session& session() { return session_; }

  /// For the part that follows.
  CheckpointProgress kept() { return checkpoints_.kept(seconds_); }

 private:
  static std::int64_t first_instance(const Ensemble* ensemble, std::int64_t part) {
    return ensemble != nullptr ? ensemble->first_of(part) : 0;
  }

  void start() {
    session_.start();
    session_.synchronise();
    update();
    check_numbers(0);
    if (!follows_) {
      if (options_.begins) options_.begins();
      checkpoints_.begin();
    }
    if (watches() && p_.watch_transforms.empty()) watch();
    observer_.look(0);
    observer_.observe(0, end_ == 0 || stopped_);
    remember_start();
    growth_.begin(0, instances_);
  }

  void resume() {
    if (options_.begins) options_.begins();
    RunPosition then = checkpoints_.resume(*options_.resume, options_.past_stop);
    session_.synchronise();
    step_ = first_ = then.step;
    update();
    watched_at_start_ = std::move(then.watched_at_start);
    if (watched_at_start_.size() != p_.progress.size()) remember_start();
    growth_.begin(step_, instances_);
    for (std::int64_t i = 0; ensemble_ != nullptr && p_.stop_slot >= 0 && i < instances_; ++i)
      if (ensemble_->failed(first_instance_ + i)) session_.set_scalar(p_.stop_slot, 1, i);
    update();
    observer_.resumed(step_);
    if (!over() && observer_.owes(step_)) observer_.observe(step_, false);
  }

  void keep(bool wait) {
    const bool finished = over() && (ensemble_ == nullptr || ensemble_->last_part());
    checkpoints_.keep({step_, time_, seconds_, finished, watched_at_start_}, wait);
    if (wait && !checkpoints_.settle(true)) check_state(first_);
  }

  /// Whoever looks on may pause or stop the run here.
  void ask_onlooker() {
    if (options_.onlooker == nullptr) return;
    const auto asked = Clock::now();
    Wish wish = options_.onlooker->between(progress());
    while (wish == Wish::Pause && !interrupted()) {
      std::this_thread::sleep_for(kPauseInterval);
      wish = options_.onlooker->between(progress());
    }
    stop_wished_ = wish == Wish::Stop;
    begun_ += Clock::now() - asked;
  }

  void update() {
    stopped_ = all_stopped() || (ensemble_ != nullptr && ensemble_->reached());
    time_ = p_.time_slot >= 0 ? largest(p_.time_slot) : static_cast<double>(step_) * p_.dt_physical;
  }

  /// A run ends when all its instances have.
  bool all_stopped() {
    if (p_.stop_slot < 0) return false;
    const Slot stop = session_.slot(p_.stop_slot);
    for (std::int64_t i = 0; i < instances_; ++i)
      if (stop[i] == 0) return false;
    return true;
  }

  double largest(int slot) {
    const Slot now = session_.slot(slot);
    double value = now[0];
    for (std::int64_t i = 1; i < instances_; ++i) value = std::fmax(value, now[i]);
    return value;
  }

  /// About so many steps, ended where `multi_step` can begin.
  std::int64_t up_to_a_multi_step(std::int64_t steps) const {
    const std::int64_t unit = p_.multi_step_unit;
    if (unit == 0) return steps;
    const std::int64_t end = (step_ + steps) / unit * unit;
    return end > step_ ? end - step_ : unit - step_ % unit;
  }

  /// Steps up to the next output, the end, or the time after which the host looks again.
  void chunk() {
    std::int64_t count = up_to_a_multi_step(size_);
    const std::int64_t due = observer_.next(step_);
    if (due >= 0) count = std::min(count, due - step_);
    if (end_ >= 0) count = std::min(count, end_ - step_);
    if (limit_ >= 0) count = std::min(count, limit_ - step_);
    const std::int64_t kept = checkpoints_.next(step_);
    if (kept >= 0) count = std::min(count, kept - step_);
    session_.prepare(count);
    session_.synchronise();
    const auto start = Clock::now();
    session_.advance(count);
    session_.synchronise();
    const double seconds = seconds_since(start);
    const std::int64_t before = step_;
    step_ += count;
    if (all_stopped() && p_.step_slot >= 0)  // the steps after the end changed nothing
      step_ =
          std::clamp(static_cast<std::int64_t>(std::llround(largest(p_.step_slot))), before, step_);
    update();
    if (before == first_) first_step_ = seconds_since(created_);
    if (before == first_ && count < end_ - first_)
      warm_up_ = seconds, warm_up_steps_ = step_ - first_;
    seconds_ += seconds;
    if (seconds < kChunkSeconds) size_ = std::max(size_, 4 * count);
    if (seconds > 2 * kChunkSeconds)
      size_ = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(count) * kChunkSeconds / seconds));
    check_numbers(before);
    const bool last = stopped_ || step_ == end_;
    observer_.look(step_);
    if (step_ == due && !last && observer_.due_at(step_)) {
      observer_.observe(step_, false);
      update();
      check_expansion();
      check_recovery();
      check_numbers(before);
      if (ensemble_ == nullptr) check_runaway();
    }
    if (seconds_since(last_flush_) > kFlushSeconds) observer_.flush(), last_flush_ = Clock::now();
  }

  /// A scalar that is NaN starts a search for the site it came from. Quotients of an output
  /// may be 0/0 while the state is sound; such slots are not looked at twice.
  void check_numbers(std::int64_t good_step) {
    const auto all = static_cast<std::size_t>(instances_);
    harmless_.resize(p_.scalars.size() * all);
    std::vector<bool> suspicious;  // empty: none
    for (std::size_t k = 0; k < p_.scalars.size(); ++k) {
      if (!std::isfinite(p_.scalars[k].initial)) continue;
      const Slot now = session_.slot(static_cast<int>(k));
      for (std::size_t i = 0; i < all; ++i) {
        if (std::isfinite(now[static_cast<std::int64_t>(i)]) || harmless_[k * all + i]) continue;
        suspicious.resize(all);
        suspicious[i] = true;
      }
    }
    for (std::size_t i = 0; i < suspicious.size(); ++i) {
      if (!suspicious[i]) continue;
      check_state(good_step, static_cast<std::int64_t>(i));
      for (std::size_t k = 0; k < p_.scalars.size(); ++k)
        if (!std::isfinite(session_.slot(static_cast<int>(k))[static_cast<std::int64_t>(i)]))
          harmless_[k * all + i] = true;
    }
  }

  void check_state(std::int64_t good_step) {
    for (std::int64_t instance = 0; instance < instances_; ++instance)
      check_state(good_step, instance);
  }

  /// Stops an instance of a sweep whose state has become NaN and leaves it out; the others go on.
  void set_aside(std::int64_t instance, const std::string& message) {
    ensemble_->fail(first_instance_ + instance, message);
    if (p_.stop_slot < 0) return;
    session_.set_scalar(p_.stop_slot, 1, instance);
    update();
  }

  // ---- what makes every later number wrong: looked for at outputs, checkpoints, and once a second

  bool watches() const { return p_.unsound_slot >= 0 || p_.expansion.scale_slot >= 0; }

  void watch() {
    observer_.watch(), update();
    check_expansion();
    check_recovery();
  }

  /// Checks the scale factor as `watch` or an output has computed it last.
  void check_expansion() {
    if (p_.expansion.scale_slot < 0 && p_.expansion.residual_slot < 0) return;
    const std::vector<double>& scalars = session_.scalars();
    for (std::int64_t instance = 0; instance < instances_; ++instance) {
      residual_.look(p_, scalars, instance, time_);
      const auto fault = expansion_fault(p_, scalars, instance, step_);
      if (!fault) continue;
      observer_.flush();
      if (ensemble_ == nullptr) {
        check_state(first_);
        throw RunError("E0815", fault->message, fault->hint + last_checkpoint());
      }
      if (!ensemble_->failed(first_instance_ + instance)) set_aside(instance, fault->message);
      if (none_left()) throw RunError("E0815", "no instance of the sweep is left", fault->hint);
    }
  }

  bool none_left() const {
    for (std::int64_t i = 0; i < p_.all_instances(); ++i)
      if (!ensemble_->failed(i)) return false;
    return true;
  }

  // ---- conservation laws: what a state is recovered by

  /// Checks the slot that `watch` has computed last. Throws where a site has no primitive
  /// variables; in a sweep, only when no instance is left.
  void check_recovery() {
    if (p_.unsound_slot < 0) return;
    for (std::int64_t instance = 0; instance < instances_; ++instance) {
      const double found = session_.slot(p_.unsound_slot)[instance];
      if (found == 0) continue;
      if (ensemble_ == nullptr) return unrecovered();
      if (ensemble_->failed(first_instance_ + instance)) continue;
      set_aside(instance, recovery_text(p_, std::llround(found) - 1,
                                        fmt::format("from the state of step {}", step_)));
    }
    if (ensemble_ == nullptr || !none_left()) return;
    throw RunError("E0808", "no instance of the sweep is left", recovery_hint());
  }

  std::string recovery_hint() const {
    return "take a smaller dt (a diffusive flux wants dt below dx^2/(2*dims*nu)); where a law has "
           "bounds, a vacuum or |M| < E, `limit` keeps its values within (by 1e-6 in f32)" +
           last_checkpoint();
  }

  bool recoverable() {
    observer_.watch();
    return session_.slot(p_.unsound_slot)[0] == 0;
  }

  /// Looks for the first step whose state has a site that cannot be recovered. Where that state is
  /// NaN already the step is the cause, which the search for NaN reports.
  [[noreturn]] void unrecovered() {
    observer_.flush();
    checkpoints_.settle(true);
    const auto interval =
        good_.first_bad_step(step_, kSearchSeconds, [this] { return recoverable(); });
    if (find_bad_site(session_, 0)) check_state(first_, 0);
    observer_.watch();
    const double found = session_.slot(p_.unsound_slot)[0];
    const std::int64_t plane = std::llround(found) - 1;
    const bool exact = interval.good >= 0 && interval.bad - interval.good <= 1;
    std::string when = fmt::format("from the state of step {}", interval.bad);
    if (interval.bad == 0)
      when = "from the initial state";
    else if (!exact)
      when += " or of one before";
    BrokenState error("E0808", recovery_text(p_, plane, when), recovery_hint());
    error.plane = plane;
    if (good_.last().step >= 0 || interval.bad == 0) {
      GoodState now;
      good_.take(interval.bad, now);
      error.step = interval.bad;
      error.there = reader_of(p_, now);
    }
    throw error;
  }

  /// Throws where a site of the state holds NaN; in a sweep, only when no instance is left.
  void check_state(std::int64_t good_step, std::int64_t instance) {
    if (ensemble_ != nullptr && ensemble_->failed(first_instance_ + instance)) return;
    auto bad = find_bad_site(session_, instance);
    if (!bad) return;
    observer_.flush();
    checkpoints_.settle(true);
    std::int64_t bad_step = step_;
    GoodStates::Interval interval;
    if (ensemble_ == nullptr) {  // instances of a sweep go on, so their steps are not repeated
      interval = good_.first_bad_step(step_, kSearchSeconds);
      bad_step = interval.bad;
      if (interval.good >= 0 || bad_step == first_) good_step = interval.good;
      bad = find_bad_site(session_, instance);
      if (!bad) throw std::logic_error("a state that broke is sound when its steps are repeated");
    }
    const bool exact = bad_step - good_step <= 1;
    const bool by_the_step = bad_step > 0 && growth_.explains(bad_step - first_);
    const std::string message =
        bad_site_text(p_, *bad, good_step, bad_step, by_the_step ? growth_.cause() : std::string());
    if (ensemble_ != nullptr) {
      set_aside(instance, message);
      if (!none_left()) return;
    }
    BrokenState error(
        "E0801", message,
        bad_step == 0 ? "a look at divisions, roots and logarithms in what `init` gives it"
        : by_the_step ? growth_.remedy() + last_checkpoint()
                      : "a smaller dt, or a look at divisions and logarithms in that line" +
                            last_checkpoint());
    error.variable = bad->variable, error.site = bad->site;
    error.at_start = bad_step == 0;
    if (exact && interval.good >= 0 &&
        !by_the_step) {  // the term that overflows first is not the cause
      error.step = bad_step;
      error.scalars_before = good_.last().scalars;
      error.before = reader_of(p_, good_.last());
    }
    throw error;
  }

  std::string last_checkpoint() const {
    if (checkpoints_.last_step() < 0) return {};
    return fmt::format("; the checkpoint of step {} is kept ({})", checkpoints_.last_step(),
                       checkpoints_.files().newest.string());
  }

  /// Throws where the state grows by an instability of the step, not of the equations (StepGrowth);
  /// the results are kept.
  void check_growth() {
    for (std::int64_t i = 0; i < instances_; ++i) {
      if (ensemble_ != nullptr && ensemble_->failed(first_instance_ + i)) continue;
      const auto fault = growth_.fault(step_, i);
      if (!fault) continue;
      observer_.flush();
      if (ensemble_ == nullptr)
        throw RunError("E0816", fault->message, fault->hint + last_checkpoint());
      set_aside(i, fault->message);
      if (none_left()) throw RunError("E0816", "no instance of the sweep is left", fault->hint);
    }
  }

  /// Throws where a conserved quantity has changed by many orders of magnitude: the solution is
  /// wrong and will soon be NaN. A quantity that is not finite at the start is an error as well.
  void check_runaway() {
    for (std::size_t i = 0; i < p_.progress.size(); ++i) {
      const auto& scalar = p_.progress[i];
      const double start = watched_at_start_[i], value = session_.slot(scalar.slot)[0];
      if (!scalar.drift || start == 0 || std::abs(value) < kRunaway * std::abs(start)) continue;
      observer_.flush();
      if (!std::isfinite(value)) check_state(first_);
      if (!std::isfinite(start))
        throw RunError(
            "E0806",
            fmt::format("what `{}` is measured by is {} at the start: it has no value for the "
                        "initial state",
                        scalar.name, number_text(start, 4)),
            "a logarithm, a root or a division of the energy does not go with the initial values");
      throw RunError(
          "E0806",
          fmt::format("the run has diverged: `{}` was {} at the start and is {} at step "
                      "{}, t = {:.6g}",
                      scalar.name, number_text(start, 4), number_text(value, 4), step_, time_),
          "a smaller dt (`vphi check` prints the limit), or a look at the sign of the "
          "potential" +
              last_checkpoint());
    }
  }

  /// Keeps the first values, relative to which drifts are shown.
  void remember_start() {
    if (p_.progress.empty()) return;
    observer_.watch(), update();
    watched_at_start_.clear();
    for (const auto& scalar : p_.progress)
      watched_at_start_.push_back(session_.slot(scalar.slot)[0]);
  }

  void report_progress(bool last) {
    if (!options_.progress) return;
    if (!last && seconds_since(last_progress_) < options_.progress_interval) return;
    last_progress_ = Clock::now();
    if (!p_.progress.empty() && !last) observer_.watch(), update();
    Progress now = progress();
    for (std::size_t i = 0; i < p_.progress.size(); ++i) {
      const auto& scalar = p_.progress[i];
      const double value = session_.slot(scalar.slot)[0];
      const double start = watched_at_start_[i];
      now.watched.emplace_back(
          scalar.name, scalar.drift && start != 0 ? (value - start) / std::abs(start) : value);
    }
    options_.progress(now);
  }

  /// The progress of the run, without the watched scalars.
  Progress progress() const {
    Progress now;
    now.step = step_;
    now.steps = end_;
    now.time = time_;
    now.seconds = seconds_since(begun_);
    if (end_ > 0 && step_ > first_)
      now.seconds_left =
          now.seconds * static_cast<double>(end_ - step_) / static_cast<double>(step_ - first_);
    now.site_updates_per_s = rate();
    now.bytes_per_s = now.site_updates_per_s * bytes_per_site(p_);
    return now;
  }

  /// Site updates per second. The first chunk touches memory for the first time and is left out
  /// where others follow.
  double rate() const {
    const bool more = step_ - first_ > warm_up_steps_ && seconds_ > warm_up_;
    const double seconds = more ? seconds_ - warm_up_ : seconds_;
    const auto steps = static_cast<double>(more ? step_ - first_ - warm_up_steps_ : step_ - first_);
    return seconds > 0 ? steps * static_cast<double>(p_.sites() * instances_) / seconds : 0;
  }

  RunResult result() {
    RunResult r;
    r.model = p_.model;
    r.device = session_.device().info().name;
    r.steps = step_;
    r.time = time_;
    r.interrupted = interrupted() && !over();
    r.series = observer_.series();  // of a sweep: the ensemble's
    for (const Series& s : r.series)
      if (!s.points.empty()) r.scalars.emplace_back(s.name, s.points.back().second);
    if (ensemble_ == nullptr) r.expectations = observer_.expectations();
    r.performance.seconds = seconds_;
    r.performance.first_step_seconds = first_step_;
    r.performance.site_updates_per_s = rate();
    r.performance.bytes_per_site = bytes_per_site(p_);
    r.performance.device_bytes = session_.bytes_peak();
    r.files = observer_.files();
    r.notes = observer_.notes();
    for (const program::Output& output : p_.outputs)
      for (const program::ScalarOutput& scalar : output.scalars)
        if (const auto last = r.scalar(scalar.name); scalar.passage && last && std::isnan(*last)) {
          r.unreached.push_back(scalar.name);
          r.notes.push_back(
              fmt::format("{}: not reached: the condition of its `first` has not held; the run may "
                          "be too short",
                          scalar.name));
        }
    r.notes.insert(r.notes.end(), checkpoints_.notes().begin(), checkpoints_.notes().end());
    if (const std::string note = residual_.note(); !note.empty()) r.notes.push_back(note);
    r.resumed_from = options_.resume ? first_ : -1;
    r.checkpoint = checkpoints_.last_step();
    r.checkpoint_seconds = checkpoints_.seconds();
    if (options_.keep_state)
      for (const auto& variable : p_.state) r.state.push_back(session_.read(variable.buffer));
    r.kernels = kernel_runs(session_, options_.time_kernels);
    // A step of one kernel was timed already, by the run itself.
    if (options_.time_kernels && p_.step.size() == 1 && rate() > 0)
      r.kernels[p_.step[0].kernel].seconds = static_cast<double>(p_.sites() * instances_) / rate();
    return r;
  }

  const Program& p_;
  const RunOptions& options_;
  Clock::time_point created_ = Clock::now(), begun_, last_progress_, last_flush_;
  int threads_;
  std::unique_ptr<Session> opened_;
  Session& session_;
  Observer observer_;
  Checkpoints checkpoints_;
  GoodStates good_;
  WatchedGrowth growth_;
  Ensemble* ensemble_ = nullptr;
  std::int64_t instances_ = 1, first_instance_ = 0;  ///< of this part
  std::int64_t end_ = -1, step_ = 0, size_ = 1;
  std::int64_t limit_ = -1;  ///< of `go_on`
  std::int64_t first_ = 0;   ///< step at which this part of the run began
  std::int64_t warm_up_steps_ = 0;
  double time_ = 0, seconds_ = 0, warm_up_ = 0, first_step_ = 0;
  bool stopped_ = false, stop_wished_ = false;
  bool follows_ = false;                  ///< there was a part before
  double earlier_ = 0;                    ///< seconds of the parts before
  std::vector<double> watched_at_start_;  ///< of Program::progress
  std::vector<bool> harmless_;            ///< [slot][instance]
  WorstResidual residual_;
};

namespace {

/// What the parts before have taken, added to the last one's.
void add_up(const RunResult& before, RunResult& result) {
  Performance& all = result.performance;
  const Performance& earlier = before.performance;
  const double updates =
      earlier.site_updates_per_s * earlier.seconds + all.site_updates_per_s * all.seconds;
  all.device_bytes = std::max(all.device_bytes, earlier.device_bytes);
  all.first_step_seconds = earlier.first_step_seconds;
  all.seconds += earlier.seconds;
  if (all.seconds > 0) all.site_updates_per_s = updates / all.seconds;
  result.resumed_from = before.resumed_from;
  result.acceptance.insert(result.acceptance.begin(), before.acceptance.begin(),
                           before.acceptance.end());
  if (result.checkpoint < 0) result.checkpoint = before.checkpoint;
  result.checkpoint_seconds += before.checkpoint_seconds;
}

/// Whether the run keeps the numbers of all its instances together (Ensemble).
bool kept_together(const Program& program) {
  // promises about averages over time are judged by the same means, with or without a sweep
  const bool at_end = std::any_of(program.expectations.begin(), program.expectations.end(),
                                  [](const auto& e) { return e.at_end; });
  // and so are errors of averages over time
  const auto timed = [](const program::Output& o) {
    return !o.regular() && std::ranges::any_of(o.statistics, [](const auto& s) {
      return s.axes.empty() && s.error_slot >= 0;
    });
  };
  return !program.axes.empty() || at_end || std::ranges::any_of(program.outputs, timed);
}

}  // namespace

/// The program as it looks with the instances of all ranks; nothing where there are none.
static std::optional<Program> of_all_ranks(const Program& of_a_rank, const RunOptions& options) {
  if (options.ranks == nullptr) return std::nullopt;
  Program whole = of_a_rank;
  whole.instances = of_a_rank.all_instances();
  if (options.batch > 0) whole.instances = std::min(whole.instances, options.batch);
  for (RankInfo& rank : options.ranks->ranks()) rank.busy = 0;
  return whole;
}

/// A run of one instance, or the parts of a sweep one after the other.
struct Run::State {
  State(const Program& program, Device& on, const RunOptions& how)
      : of_a_rank(how.ranks != nullptr ? &program : nullptr),
        whole(of_all_ranks(program, how)),
        p(whole ? *whole : program),
        device(how.ranks != nullptr ? how.ranks->device() : on),
        options(how) {
    if (!kept_together(p)) {
      loop = std::make_unique<Loop>(p, device, options, nullptr, 0, nullptr, of_a_rank);
      return;
    }
    if (!options.out.empty() && !p.axes.empty())
      results = std::make_unique<io::Results>(
          options.out, p,
          options.keep.on ? checkpoint_files(options.out, p.model).folder : std::filesystem::path(),
          options.tell);
    ensemble.emplace(p, results.get());
    if (options.resume) {
      const auto state = options.resume->run().ensemble;
      if (state.empty() && !p.axes.empty())
        throw RunError("E0853", "the checkpoint does not fit this program: it is not of a sweep",
                       "start over with --restart");
      if (!state.empty()) ensemble->restore(state);
    }
    first = part = ensemble->part();
    loop = std::make_unique<Loop>(p, device, options, &*ensemble, part, nullptr, of_a_rank);
  }

  /// The part is over: its results are added, and the next one begins if there is one.
  bool next_part() {
    take_part();
    if (result.interrupted || ensemble->reached()) return false;
    result.steps = ensemble->steps();
    result.time = ensemble->time();
    if (part + 1 >= ensemble->parts()) return false;
    ++part;
    taken = false;
    const CheckpointProgress kept = loop->kept();
    loop.reset();
    options.resume = nullptr;
    loop = std::make_unique<Loop>(p, device, options, &*ensemble, part, &kept, of_a_rank);
    loop->begin();
    return true;
  }

  void take_part() {
    if (taken) return;
    taken = true;
    const RunResult before = std::exchange(result, loop->finish());
    if (part > first) add_up(before, result);
  }

  RunResult finish() {
    take_part();
    if (ensemble) {
      ensemble->into(result);
      if (results) {
        results->finish();
        result.files = results->files();
        for (const std::string& note : results->notes()) result.notes.push_back(note);
      }
    }
    if (p.chain) {
      result.chain = chain_series(result);
      result.unit = chain_unit(p);
      for (auto& note : chain_notes(result.chain, result.unit))
        result.notes.push_back(std::move(note));
    }
    if (of_a_rank != nullptr) {
      result.ranks = options.ranks->ranks();
      result.device += fmt::format(" ({} ranks)", result.ranks.size());
    }
    return std::move(result);
  }

  const Program* of_a_rank;      ///< null: one device has all instances
  std::optional<Program> whole;  ///< with the instances of all ranks
  const Program& p;
  Device& device;
  RunOptions options;
  std::unique_ptr<io::Results> results;
  std::optional<Ensemble> ensemble;
  std::unique_ptr<Loop> loop;  ///< of this part; it refers to all above
  std::int64_t first = 0, part = 0;
  bool taken = false;  ///< the results of this part are in `result`
  RunResult result;
};

Run::Run(const Program& program, Device& device, const RunOptions& options)
    : state_(std::make_unique<State>(program, device, options)) {}
Run::~Run() = default;

void Run::start() { state_->loop->begin(); }

std::int64_t Run::advance(std::int64_t steps) {
  State& s = *state_;
  const std::int64_t before = s.loop->step();
  if (steps >= 0 && parts() > 1)
    throw std::logic_error("a sweep in several parts is run to its end, not by steps");
  s.loop->go_on(steps < 0 ? -1 : before + steps);
  if (steps >= 0 || !s.ensemble) return s.loop->step() - before;
  while (s.next_part()) s.loop->go_on(-1);
  return s.loop->step() - before;
}

RunResult Run::finish() { return state_->finish(); }
bool Run::over() const { return state_->loop->over(); }
bool Run::interrupted() const { return state_->loop->interrupted(); }
std::int64_t Run::step() const { return state_->loop->step(); }
double Run::time() const { return state_->loop->time(); }
std::int64_t Run::parts() const { return state_->ensemble ? state_->ensemble->parts() : 1; }
Session& Run::session() { return state_->loop->session(); }

RunResult run(const Program& program, Device& device, const RunOptions& options) {
  Run all(program, device, options);
  all.start();
  all.advance(-1);
  return all.finish();
}

}  // namespace vphi::runtime
