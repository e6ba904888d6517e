// What ends a run before its end: NaN, states without primitive variables, and instabilities.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/run/loop.hpp"
#include "runtime/run/number_text.hpp"

namespace vphi::runtime {

namespace {

constexpr double kSearchSeconds = 60;  ///< for the step at which a run broke
constexpr double kRunaway = 1e8;       ///< growth of a conserved quantity that ends a run

}  // namespace

void Loop::check_numbers(std::int64_t good_step) {
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

void Loop::check_state(std::int64_t good_step) {
  for (std::int64_t instance = 0; instance < instances_; ++instance)
    check_state(good_step, instance);
}

void Loop::set_aside(std::int64_t instance, const std::string& message) {
  ensemble_->fail(first_instance_ + instance, message);
  if (p_.stop_slot < 0) return;
  session_.set_scalar(p_.stop_slot, 1, instance);
  update();
}

void Loop::check_expansion() {
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

void Loop::restart_expansion(const std::string& rate) {
  look();
  const auto known = std::ranges::find(p_.scalars, rate, &program::Scalar::name);
  const auto rate_slot = static_cast<int>(known - p_.scalars.begin());
  std::vector<RateSearch> searches;
  for (std::int64_t i = 0; i < instances_; ++i) searches.emplace_back(session_.slot(rate_slot)[i]);
  const std::vector<RateSearch> first = searches;
  const auto set = [&](const std::vector<RateSearch>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      session_.set_scalar(rate_slot, all[i].rate(), static_cast<std::int64_t>(i));
  };
  while (!std::ranges::all_of(searches, &RateSearch::done)) {
    observer_.watch_all();
    for (std::size_t i = 0; i < searches.size(); ++i)
      if (!searches[i].done())
        searches[i].take(session_.slot(p_.expansion.residual_slot)[static_cast<std::int64_t>(i)]);
    set(searches);
  }
  for (std::size_t i = 0; i < searches.size(); ++i) {
    const bool out =
        ensemble_ != nullptr && ensemble_->failed(first_instance_ + static_cast<std::int64_t>(i));
    if (out || searches[i].found()) continue;
    set(first);
    observer_.watch_all();
    throw RunError("E0815",
                   fmt::format("no rate of expansion fulfils the Friedmann equation at step {}: "
                               "<rho> is not positive",
                               step_),
                   "a state with a positive energy density");
  }
  observer_.watch_all();
}

bool Loop::none_left() const {
  for (std::int64_t i = 0; i < p_.all_instances(); ++i)
    if (!ensemble_->failed(i)) return false;
  return true;
}

void Loop::check_recovery() {
  if (p_.unsound_slot < 0) return;
  for (std::int64_t instance = 0; instance < instances_; ++instance) {
    const double found = session_.slot(p_.unsound_slot)[instance];
    if (found == 0) continue;
    if (found < 0) {
      if (rough_recovery_.empty())
        rough_recovery_ = rough_recovery_text(p_, -std::llround(found) - 1, step_);
      continue;
    }
    if (ensemble_ == nullptr) return unrecovered();
    if (ensemble_->failed(first_instance_ + instance)) continue;
    set_aside(instance, recovery_text(p_, std::llround(found) - 1,
                                      fmt::format("from the state of step {}", step_)));
  }
  if (ensemble_ == nullptr || !none_left()) return;
  throw RunError("E0808", "no instance of the sweep is left", recovery_hint());
}

std::string Loop::recovery_hint() const {
  return "take a smaller dt (a diffusive flux wants dt below dx^2/(2*dims*nu)); where a law has "
         "bounds, a vacuum or |M| < E, `limit` keeps its values within (by 1e-6 in f32)" +
         last_checkpoint();
}

bool Loop::recoverable() {
  observer_.watch();
  return session_.slot(p_.unsound_slot)[0] <= 0;
}

void Loop::unrecovered() {
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
  const std::string hint =
      interval.bad == 0
          ? "correct `init`: conserved values that belong to no primitive variables "
            "(a velocity of 1 or more, an energy below 0), or a start of `solve` that "
            "is too far from its solution"
          : recovery_hint();
  BrokenState error("E0808", recovery_text(p_, plane, when), hint);
  error.plane = plane;
  if (good_.last().step >= 0 || interval.bad == 0) {
    GoodState now;
    good_.take(interval.bad, now);
    error.step = interval.bad;
    error.there = reader_of(p_, now);
  }
  throw error;
}

void Loop::check_state(std::int64_t good_step, std::int64_t instance) {
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
      : by_the_step
          ? growth_.remedy() + last_checkpoint()
          : "a smaller dt, or a look at divisions and logarithms in that line" + last_checkpoint());
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

std::string Loop::last_checkpoint() const {
  if (checkpoints_.last_step() < 0) return {};
  return fmt::format("; the checkpoint of step {} is kept ({})", checkpoints_.last_step(),
                     checkpoints_.files().newest.string());
}

void Loop::check_growth() {
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

void Loop::check_runaway() {
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

void Loop::remember_start() {
  if (p_.progress.empty()) return;
  observer_.watch(), update();
  watched_at_start_.clear();
  for (const auto& scalar : p_.progress) watched_at_start_.push_back(session_.slot(scalar.slot)[0]);
}

}  // namespace vphi::runtime
