// Steps, outputs and checkpoints of a run in the order of time.
#include "runtime/run/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/chain_averages.hpp"
#include "runtime/run/exchange.hpp"
#include "runtime/run/number_text.hpp"
#include "runtime/run/ranks/lattice_session.hpp"
#include "runtime/run/ranks/ranked_session.hpp"
#include "runtime/run/trials.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr double kChunkSeconds = 0.1;  ///< seconds of steps queued at once, about
constexpr double kFlushSeconds = 2;
constexpr double kQueuedSeconds = 0.05;  ///< of steps that stay queued, at most
constexpr std::int64_t kQueuedSteps = 64;
constexpr std::int64_t kFewNumbers = 8192;
constexpr std::chrono::milliseconds kPauseInterval{50};

/// On one device, or on those of all ranks.
std::unique_ptr<Session> open_session(const Program& program, Device& device,
                                      const RunOptions& options, const Program* of_a_rank,
                                      const SessionOptions& how) {
  if (of_a_rank == nullptr) return std::make_unique<Session>(program, device, how);
  if (of_a_rank->cut.axis >= 0)
    return std::make_unique<LatticeSession>(*of_a_rank, options.other_planes, program,
                                            *options.ranks, how);
  return std::make_unique<RankedSession>(*of_a_rank, program, *options.ranks, how);
}

}  // namespace

Loop::Loop(const Program& program, Device& device, const RunOptions& options, Ensemble* ensemble,
           std::int64_t part, const CheckpointProgress* kept, const Program* of_a_rank)
    : p_(program),
      options_(options),
      threads_(options.threads > 0 ? options.threads : usable_threads()),
      opened_(open_session(program, device, options, of_a_rank,
                           {threads_, true, first_instance(ensemble, part)})),
      session_(*opened_),
      observer_(session_, options.out, threads_, options.onlooker,
                options.keep.on ? checkpoint_files(options.out, program.model).folder
                                : std::filesystem::path(),
                ensemble, options.tell, options.files),
      checkpoints_(session_, observer_, options),
      good_(session_),
      growth_(session_),
      ensemble_(ensemble),
      trials_(has_trials(p_)),
      follows_(kept != nullptr) {
  if (kept != nullptr) checkpoints_.follow(*kept), earlier_ = kept->seconds;
  if (ensemble_ != nullptr) ensemble_->begin(part, session_);
  instances_ = ensemble_ != nullptr ? ensemble_->count_of(part) : 1;
  first_instance_ = first_instance(ensemble, part);
  end_ = options.steps >= 0 ? options.steps : program.steps;
  check_exchange(p_);
  if (end_ < 0 && program.stop_slot < 0)
    throw RunError("E0804", "the run has no end",
                   "give `until = ...` in the model, or --until or --steps");
}

void Loop::begin() {
  if (options_.resume)
    resume();
  else
    start();
  if (ensemble_ == nullptr) good_.remember(step_);
  begun_ = last_progress_ = last_flush_ = Clock::now();
}

void Loop::go_on(std::int64_t limit) {
  limit_ = limit;
  stop_wished_ = false;  // an earlier request to stop is done
  follow_state();
  if (queued_ == 0) update();  // scalars may have been set in between
  while (!over() && (limit < 0 || step_ < limit) && !interrupted()) {
    chunk();
    if (queued_ > 0) {
      ask_onlooker();
      continue;
    }
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

RunResult Loop::finish() {
  look();
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
  const std::vector<double> closing =
      p_.chain || trials_ ? session_.scalars() : std::vector<double>();
  RunResult r = result();
  if (trials_) {
    const std::string note = trials_note(p_, closing, instances_);
    ensemble_ != nullptr ? ensemble_->note(note) : r.notes.push_back(note);
  }
  if (!p_.chain) return r;
  r.acceptance = acceptance(p_, closing, instances_, step_);
  if (const std::string note = exchange_note(p_, closing); !note.empty())
    ensemble_ != nullptr ? ensemble_->note(note) : r.notes.push_back(note);
  for (const auto& note : refused_all(p_, closing, first_instance_, instances_, step_))
    ensemble_ != nullptr ? ensemble_->note(note) : r.notes.push_back(note);
  return r;
}

bool Loop::interrupted() const {
  return stop_wished_ || (options_.interrupt != nullptr && *options_.interrupt);
}

std::int64_t Loop::first_instance(const Ensemble* ensemble, std::int64_t part) {
  return ensemble != nullptr ? ensemble->first_of(part) : 0;
}

void Loop::start() {
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

/// Rows have one time for all instances, so one that has ended before the others cannot go on.
void Loop::check_steps() {
  if (p_.step_slot < 0) return;
  const Slot steps = session_.slot(p_.step_slot);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::int64_t i = 0; i < instances_; ++i) {
    if (ensemble_ != nullptr && ensemble_->failed(first_instance_ + i)) continue;
    least = std::min(least, steps[i]), most = std::max(most, steps[i]);
  }
  if (least < most)
    throw RunError("E0851",
                   fmt::format("the end has changed, and instances had ended at different steps, "
                               "{:.0f} to {:.0f}: those that go on would be late in every row",
                               least, most),
                   "leave `until` as it was, or start over with --restart");
}

void Loop::resume() {
  if (options_.begins) options_.begins();
  RunPosition then = checkpoints_.resume(*options_.resume, options_.past_stop, [this] {
    if (options_.past_stop) check_steps();
  });
  if (options_.renewal == RunOptions::Renewal::Averages) session_.launch(p_.renewed_averages);
  if (options_.renewal != RunOptions::Renewal::Nothing) session_.launch(p_.renewed_scalars);
  session_.release_scratch();
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

void Loop::follow_state() {
  if (session_.take_given() && !over()) session_.launch(p_.kept_values);
}

std::shared_ptr<const SavedState> Loop::save(bool same_model) {
  look();
  follow_state();
  return checkpoints_.save(
      {step_, time_, seconds_, false, same_model ? watched_at_start_ : std::vector<double>()});
}

void Loop::save_to(const std::filesystem::path& path, const ModelAsWritten& model) {
  look();
  follow_state();
  if (!checkpoints_.write({step_, time_, seconds_, over(), watched_at_start_}, path, model))
    check_state(first_);
}

void Loop::keep(bool wait) {
  const bool finished = over() && (ensemble_ == nullptr || ensemble_->last_part());
  checkpoints_.keep({step_, time_, seconds_, finished, watched_at_start_}, wait);
  if (wait && !checkpoints_.settle(true)) check_state(first_);
}

void Loop::ask_onlooker() {
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

void Loop::update() {
  stopped_ = all_stopped() || (ensemble_ != nullptr && ensemble_->reached());
  time_ = p_.time_slot >= 0 ? largest(p_.time_slot) : static_cast<double>(step_) * p_.dt_physical;
}

bool Loop::all_stopped() {
  if (p_.stop_slot < 0) return false;
  const Slot stop = session_.slot(p_.stop_slot);
  for (std::int64_t i = 0; i < instances_; ++i)
    if (stop[i] == 0) return false;
  return true;
}

double Loop::largest(int slot) {
  const Slot now = session_.slot(slot);
  double value = now[0];
  for (std::int64_t i = 1; i < instances_; ++i) value = std::fmax(value, now[i]);
  return value;
}

std::int64_t Loop::up_to_a_multi_step(std::int64_t steps) const {
  const std::int64_t unit = p_.multi_step_unit;
  if (unit == 0) return steps;
  const std::int64_t end = (step_ + steps) / unit * unit;
  return end > step_ ? end - step_ : unit - step_ % unit;
}

void Loop::chunk() {
  std::int64_t count = up_to_a_multi_step(size_);
  const std::int64_t due = observer_.next(step_);
  if (due >= 0) count = std::min(count, due - step_);
  if (end_ >= 0) count = std::min(count, end_ - step_);
  if (limit_ >= 0) count = std::min(count, limit_ - step_);
  const std::int64_t exchange = next_exchange(p_, step_);
  if (exchange >= 0) count = std::min(count, exchange - step_);
  const std::int64_t kept = checkpoints_.next(step_);
  if (kept >= 0) count = std::min(count, kept - step_);
  session_.prepare(count);
  if (may_stay_queued(count, due, kept)) {
    session_.advance(count);
    step_ += count, queued_ += count;
    observer_.look(step_);
    return;
  }
  const std::int64_t queued = queued_;
  look();
  if (options_.ranks != nullptr || count != last_count_) session_.synchronise();
  last_count_ = count;  // steps of the same count are recorded: little is queued, if anything
  const auto start = Clock::now();
  session_.advance(count);
  wait();
  const double seconds = seconds_since(start);
  const std::int64_t before = step_;
  step_ += count;
  step_seconds_ = seconds / static_cast<double>(count);
  // steps after the end, or that waited for an output, changed nothing
  if ((all_stopped() || trials_) && p_.step_slot >= 0)
    step_ =
        std::clamp(static_cast<std::int64_t>(std::llround(largest(p_.step_slot))), before, step_);
  exchange_configurations(session_, step_);
  update();
  if (before == first_) first_step_ = seconds_since(created_);
  if (before == first_ && count < end_ - first_)
    warm_up_ = seconds, warm_up_steps_ = step_ - first_;
  // Steps that stayed queued had the caller's work beside them: they count as these do.
  seconds_ += seconds + static_cast<double>(queued) * step_seconds_;
  if (seconds < kChunkSeconds) size_ = std::max(size_, 4 * count);
  if (seconds > 2 * kChunkSeconds)
    size_ = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(count) * kChunkSeconds / seconds));
  check_numbers(before);
  const bool last = stopped_ || step_ == end_;
  observer_.look(step_);
  if ((step_ == due || trials_) && !last && observer_.due_at(step_)) {
    observer_.observe(step_, false);
    update();
    check_expansion();
    check_recovery();
    check_numbers(before);
    if (ensemble_ == nullptr) check_runaway();
  }
  if (seconds_since(last_flush_) > kFlushSeconds) observer_.flush(), last_flush_ = Clock::now();
}

bool Loop::may_stay_queued(std::int64_t count, std::int64_t due, std::int64_t kept) const {
  const std::int64_t then = step_ + count, all = queued_ + count;
  const bool known = p_.time_slot < 0 || !observer_.looks_at_time();
  const bool alone = ensemble_ == nullptr && options_.ranks == nullptr;
  const bool unwatched = !options_.progress && !options_.keep.on && !growth_.waits();
  return options_.leave_queued && known && alone && unwatched && then == limit_ && then != due &&
         then != end_ && then != kept && step_seconds_ > 0 && all <= kQueuedSteps &&
         static_cast<double>(all) * step_seconds_ <= kQueuedSeconds && !good_.due();
}

void Loop::look() {
  if (queued_ == 0) return;
  const std::int64_t before = step_ - std::exchange(queued_, 0);
  wait();
  update();
  check_numbers(before);
}

double Loop::time() {
  if (p_.time_slot >= 0) look();
  return time_;
}

/// Where the scalars are few, the copy of them that is read next is queued at once: one wait
/// instead of two.
void Loop::wait() {
  const auto numbers = static_cast<std::int64_t>(p_.scalars.size()) * p_.instances;
  if (options_.ranks != nullptr || numbers == 0 || numbers > kFewNumbers)
    session_.synchronise();
  else
    session_.slot(0);
}

void Loop::watch() {
  observer_.watch(), update();
  check_expansion();
  check_recovery();
}

void Loop::report_progress(bool last) {
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

Progress Loop::progress() const {
  Progress now;
  now.step = step_;
  now.steps = end_;
  now.time = time_;  // before the steps that are queued
  now.seconds = seconds_since(begun_);
  if (end_ > 0 && step_ > first_)
    now.seconds_left =
        now.seconds * static_cast<double>(end_ - step_) / static_cast<double>(step_ - first_);
  now.site_updates_per_s = rate();
  now.bytes_per_s = now.site_updates_per_s * bytes_per_site(p_);
  return now;
}

double Loop::rate() const {
  const bool more = step_ - first_ > warm_up_steps_ && seconds_ > warm_up_;
  const double seconds = more ? seconds_ - warm_up_ : seconds_;
  const auto steps = static_cast<double>(more ? step_ - first_ - warm_up_steps_ : step_ - first_);
  return seconds > 0 ? steps * static_cast<double>(p_.sites() * instances_) / seconds : 0;
}

RunResult Loop::result() {
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
  if (const std::string& why = session_.why_maps_by_host(); !why.empty())
    r.notes.push_back(
        fmt::format("arrays go to the host for each map in Fourier space, slowly: {}", why));
  r.notes.insert(r.notes.end(), checkpoints_.notes().begin(), checkpoints_.notes().end());
  if (const std::string note = residual_.note(); !note.empty()) r.notes.push_back(note);
  if (!rough_recovery_.empty()) r.notes.push_back(rough_recovery_);
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

}  // namespace vphi::runtime
