// The time loop; see run.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "runtime/device/thread_pool.hpp"
#include "runtime/run/keeper.hpp"
#include "runtime/run/observe.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double kChunkSeconds = 0.1;  ///< the device is left alone for about so long
constexpr double kFlushSeconds = 2;
constexpr std::chrono::milliseconds kPauseInterval{50};

/// Where a run stands between two chunks of steps.
class Loop {
 public:
  Loop(const Program& program, Device& device, const RunOptions& options)
      : p_(program),
        options_(options),
        threads_(options.threads > 0 ? options.threads : usable_threads()),
        session_(program, device, {threads_, true}),
        observer_(session_, options.out, threads_, options.onlooker,
                  options.keep.on ? checkpoint_files(options.out, program.model).folder
                                  : std::filesystem::path()),
        keeper_(session_, observer_, options) {
    end_ = options.steps >= 0 ? options.steps : program.steps;
    if (end_ < 0 && program.stop_slot < 0)
      throw RunError("E0804", "the run has no end",
                     "give `until = ...` in the model, or --until or --steps");
  }

  RunResult run() {
    if (options_.resume)
      resume();
    else
      start();
    begun_ = last_progress_ = last_flush_ = Clock::now();
    while (!stopped_ && (end_ < 0 || step_ < end_) && !interrupted()) {
      chunk();
      report_progress(false);
      ask_onlooker();
      if (!keeper_.settle(false)) check_state(first_);
      if (keeper_.due(step_) && !over()) keep(false);
    }
    // Before the closing values, which a run that goes on from here will not have.
    const double worth = options_.keep.at_end_after;
    if (step_ > first_ && (over() ? worth >= 0 && seconds_ >= worth : interrupted())) keep(true);
    if (step_ > 0) observer_.observe(step_, true);
    update(session_.scalars());
    check_numbers(step_);
    if (p_.watch.empty() && p_.outputs.empty()) check_state(step_);
    report_progress(true);
    observer_.finish();
    return result();
  }

 private:
  void start() {
    session_.start();
    session_.device().synchronise();
    update(session_.scalars());
    check_numbers(0);
    keeper_.begin();
    observer_.observe(0, end_ == 0 || stopped_);
    remember_start();
  }

  void resume() {
    Standing then = keeper_.resume(*options_.resume, options_.past_stop);
    session_.device().synchronise();
    step_ = first_ = then.step;
    update(session_.scalars());
    watched_at_start_ = std::move(then.watched_at_start);
    if (watched_at_start_.size() != p_.progress.size()) remember_start();
    if (!over() && observer_.owes(step_)) observer_.observe(step_, false);
  }

  bool over() const { return stopped_ || (end_ >= 0 && step_ >= end_); }

  void keep(bool wait) {
    keeper_.keep({step_, time_, seconds_, over(), watched_at_start_}, wait);
    if (wait && !keeper_.settle(true)) check_state(first_);
  }

  bool interrupted() const {
    return stop_wished_ || (options_.interrupt != nullptr && *options_.interrupt);
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

  void update(std::vector<double> scalars) {
    scalars_ = std::move(scalars);
    stopped_ = p_.stop_slot >= 0 && scalars_[p_.stop_slot] != 0;
    time_ =
        p_.time_slot >= 0 ? scalars_[p_.time_slot] : static_cast<double>(step_) * p_.dt_physical;
  }

  /// Steps up to the next output, the end, or the time after which the host looks again.
  void chunk() {
    std::int64_t count = size_;
    const std::int64_t due = observer_.next(step_);
    if (due >= 0) count = std::min(count, due - step_);
    if (end_ >= 0) count = std::min(count, end_ - step_);
    const std::int64_t kept = keeper_.next(step_);
    if (kept >= 0) count = std::min(count, kept - step_);
    session_.prepare(count);
    session_.device().synchronise();
    const auto start = Clock::now();
    session_.advance(count);
    session_.device().synchronise();
    const double seconds = seconds_since(start);
    const std::int64_t before = step_;
    step_ += count;
    auto scalars = session_.scalars();
    const bool stop = p_.stop_slot >= 0 && scalars[p_.stop_slot] != 0;
    if (stop && p_.step_slot >= 0)  // the steps after the end changed nothing
      step_ =
          std::clamp(static_cast<std::int64_t>(std::llround(scalars[p_.step_slot])), before, step_);
    update(std::move(scalars));
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
    if (step_ == due && !last) {
      observer_.observe(step_, false);
      update(session_.scalars());
      check_numbers(before);
    }
    if (seconds_since(last_flush_) > kFlushSeconds) observer_.flush(), last_flush_ = Clock::now();
  }

  /// A scalar that is no number sends us looking for the site it came from. Quotients of an output
  /// may be 0/0 while the state is sound; such slots are not looked at twice.
  void check_numbers(std::int64_t good_step) {
    harmless_.resize(scalars_.size());
    bool suspicious = false;
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      suspicious = suspicious || (!std::isfinite(scalars_[i]) && !harmless_[i]);
    if (!suspicious) return;
    check_state(good_step);
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      if (!std::isfinite(scalars_[i])) harmless_[i] = true;
  }

  /// Throws where a site of the state holds no number.
  void check_state(std::int64_t good_step) {
    const auto bad = find_bad_site(session_);
    if (!bad) return;
    observer_.flush();
    const auto& variable = p_.state[bad->variable];
    const auto dims = static_cast<std::size_t>(p_.dims);
    const std::string where = fmt::format(
        "({})",
        fmt::join(bad->site.begin(), bad->site.begin() + static_cast<std::ptrdiff_t>(dims), ", "));
    const std::string when = step_ - good_step > 1
                                 ? fmt::format("between steps {} and {}", good_step, step_)
                                 : fmt::format("in step {}", step_);
    std::string line;
    if (!variable.line.empty())
      line =
          fmt::format("; its equation comes from line {}: {}", variable.line_number, variable.line);
    throw RunError(
        "E0801",
        fmt::format("`{}` became {} {}, at site {}{}{}", variable.shown, bad->value, when, where,
                    bad->count > 1 ? fmt::format(" and {} others", bad->count - 1) : "", line),
        "a smaller dt, or a look at divisions and logarithms in that line");
  }

  /// What drifts is shown relative to its first value.
  void remember_start() {
    if (p_.progress.empty()) return;
    update(observer_.watch());
    watched_at_start_.clear();
    for (const auto& scalar : p_.progress) watched_at_start_.push_back(scalars_[scalar.slot]);
  }

  void report_progress(bool last) {
    if (!options_.progress) return;
    if (!last && seconds_since(last_progress_) < options_.progress_interval) return;
    last_progress_ = Clock::now();
    if (!p_.progress.empty() && !last) update(observer_.watch());
    Progress now = progress();
    for (std::size_t i = 0; i < p_.progress.size(); ++i) {
      const auto& scalar = p_.progress[i];
      const double value = scalars_[scalar.slot];
      const double start = watched_at_start_[i];
      now.watched.emplace_back(
          scalar.name, scalar.drift && start != 0 ? (value - start) / std::abs(start) : value);
    }
    options_.progress(now);
  }

  /// Where the run stands, without the watched scalars.
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

  /// The first chunk touches memory for the first time and is left out where others follow.
  double rate() const {
    const bool more = step_ - first_ > warm_up_steps_ && seconds_ > warm_up_;
    const double seconds = more ? seconds_ - warm_up_ : seconds_;
    const auto steps = static_cast<double>(more ? step_ - first_ - warm_up_steps_ : step_ - first_);
    return seconds > 0 ? steps * static_cast<double>(p_.sites()) / seconds : 0;
  }

  RunResult result() {
    RunResult r;
    r.model = p_.model;
    r.device = session_.device().info().name;
    r.steps = step_;
    r.time = time_;
    r.interrupted = interrupted() && !over();
    r.series = observer_.series();
    for (const Series& s : r.series)
      if (!s.points.empty()) r.scalars.emplace_back(s.name, s.points.back().second);
    r.expectations = observer_.expectations();
    r.performance.seconds = seconds_;
    r.performance.first_step_seconds = first_step_;
    r.performance.site_updates_per_s = rate();
    r.performance.bytes_per_site = bytes_per_site(p_);
    r.performance.device_bytes = session_.bytes_peak();
    r.files = observer_.files();
    r.notes = observer_.notes();
    r.notes.insert(r.notes.end(), keeper_.notes().begin(), keeper_.notes().end());
    r.resumed_from = options_.resume ? first_ : -1;
    r.checkpoint = keeper_.last_step();
    r.checkpoint_seconds = keeper_.seconds();
    if (options_.keep_state)
      for (const auto& variable : p_.state) r.state.push_back(session_.read(variable.buffer));
    r.kernels = kernel_runs(session_, options_.time_kernels);
    // A step of one kernel was timed already, by the run itself.
    if (options_.time_kernels && p_.step.size() == 1 && rate() > 0)
      r.kernels[p_.step[0].kernel].seconds = static_cast<double>(p_.sites()) / rate();
    return r;
  }

  const Program& p_;
  const RunOptions& options_;
  Clock::time_point created_ = Clock::now(), begun_, last_progress_, last_flush_;
  int threads_;
  Session session_;
  Observer observer_;
  Keeper keeper_;
  std::int64_t end_ = -1, step_ = 0, size_ = 1;
  std::int64_t first_ = 0;  ///< step at which this part of the run began
  std::int64_t warm_up_steps_ = 0;
  double time_ = 0, seconds_ = 0, warm_up_ = 0, first_step_ = 0;
  bool stopped_ = false, stop_wished_ = false;
  std::vector<double> scalars_;
  std::vector<double> watched_at_start_;  ///< of Program::progress
  std::vector<bool> harmless_;
};

}  // namespace

bool RunResult::all_expected() const {
  return std::all_of(expectations.begin(), expectations.end(), [](const auto& e) { return e.ok; });
}

const Series* RunResult::find(const std::string& name) const {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const Series& s) { return s.name == name; });
  return found == series.end() ? nullptr : &*found;
}

std::optional<double> RunResult::scalar(const std::string& name) const {
  for (const auto& [key, value] : scalars)
    if (key == name) return value;
  return std::nullopt;
}

double bytes_per_site(const Program& program) {
  double bytes = 0;
  for (const auto& launch : program.step) bytes += program.kernels[launch.kernel].bytes;
  return bytes;
}

std::optional<BadSite> find_bad_site(Session& session) {
  const Program& p = session.program();
  for (std::size_t v = 0; v < p.state.size(); ++v) {
    const auto values = session.read(p.state[v].buffer);
    BadSite bad;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      if (bad.count++ > 0) continue;
      bad.variable = static_cast<int>(v);
      bad.value = values[i];
      auto rest = static_cast<std::int64_t>(i);
      for (int axis = 0; axis < 4; ++axis) {
        bad.site[axis] = rest % p.extent[axis];
        rest /= p.extent[axis];
      }
    }
    if (bad.count > 0) return bad;
  }
  return std::nullopt;
}

RunResult run(const Program& program, Device& device, const RunOptions& options) {
  return Loop(program, device, options).run();
}

}  // namespace vphi::runtime
