// Expectations of an ensemble, averages over its axes and over time, and their errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "program/stop_criterion.hpp"
#include "runtime/observe/autocorrelation.hpp"
#include "runtime/run/ensemble.hpp"

namespace vphi::runtime {

using program::Output;
using program::Statistic;

namespace {

/// Steps in an average and its value, one behind the other.
using History = std::vector<std::pair<double, double>>;

/// Adds a moment. Where there would be more than `most`, every other one is removed, and later ones
/// keep the new distance.
void remember(History& history, double steps, double mean, std::size_t most) {
  if (!history.empty() && !(steps > history.back().first)) return;
  const std::size_t half = history.size() / 2;
  if (history.size() > most / 2 && history.size() > 2) {
    const double window = history[half].first - history[half - 1].first;
    if (steps - history.back().first < 0.75 * window) return;
  }
  history.emplace_back(steps, mean);
  if (history.size() <= most) return;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < history.size(); k += 2) history[kept++] = history[k];
  history.resize(kept);
}

/// Means of the windows of an average. A window that is much shorter than the others would have the
/// same weight, so a short one at the end is joined with the one before and a short one at the
/// start with the next. A mean that differs from the whole average by rounding alone is set to it,
/// so that a constant value has equal windows.
std::vector<double> windows_of(const History& history, double steps, double mean) {
  History moments = history;
  if (!moments.empty() && steps > moments.back().first) moments.emplace_back(steps, mean);
  if (moments.size() > 3) {
    const std::size_t half = moments.size() / 2;
    const double window = moments[half].first - moments[half - 1].first;
    const auto length = [&](std::size_t k) { return moments[k].first - moments[k - 1].first; };
    if (length(moments.size() - 1) < 0.5 * window) moments.erase(moments.end() - 2);
    if (length(1) < 0.5 * window) moments.erase(moments.begin() + 1);
  }
  const double all = moments.empty() ? mean : moments.back().second;
  std::vector<double> windows;
  for (std::size_t k = 1; k < moments.size(); ++k) {
    const auto [n0, m0] = moments[k - 1];
    const auto [n1, m1] = moments[k];
    const double sum_before = n0 > 0 ? n0 * m0 : 0;  // a mean of nothing is NaN
    const double window = (n1 * m1 - sum_before) / (n1 - n0);
    const double rounding =
        16 * std::numeric_limits<double>::epsilon() * n1 / (n1 - n0) * std::abs(all);
    windows.push_back(std::abs(window - all) <= rounding ? all : window);
  }
  return windows;
}

}  // namespace

void Ensemble::follow_time(const Table& table) {
  for (std::size_t s = 0; s < timed_.size(); ++s) {
    if (!timed_[s].on) continue;
    const Statistic& statistic = *timed_[s].statistic;
    for (std::int64_t i = 0; i < table.instances; ++i)
      remember(times_[s][static_cast<std::size_t>(first_of(part_) + i)],
               table.at(i, statistic.count_slot), table.at(i, statistic.slot),
               program_.chain ? std::numeric_limits<std::size_t>::max() : most_windows_);
  }
}

void Ensemble::follow() {
  if (follows()) follow_time(block());
}

void Ensemble::errors_into_session(std::size_t output) {
  const Output& o = program_.outputs[output];
  Table table = block();
  errors_over_time(o.statistics, table);
  for (const Statistic& s : o.statistics)
    if (over_time(s) && s.error_slot >= 0)
      session_->set_scalar(s.error_slot, table.at(0, s.error_slot), 0);
}

void Ensemble::judge(const io::Moment& at, bool last) {
  using program::Expectation;
  const bool now = std::ranges::any_of(program_.expectations, [](const Expectation& e) {
    return !e.at_end || program::is_stop_criterion(e);
  });
  if (!now && !follows() && (!last || program_.expectations.empty())) return;
  Table table = block();
  follow_time(table);
  for (std::size_t p = 0; p < promises_.size(); ++p) {
    if (program_.expectations[p].at_end) continue;
    for (std::int64_t i = 0; i < table.instances; ++i)
      judge_instance(p, table, i, first_of(part_) + i, at.time);
  }
  if (parts_ == 1 && at.step > 0) check_stop_criteria(table, at);
  if (last && parts_ == 1) judge_whole(table, at.time);
  if (last && parts_ > 1)
    last_watch_[static_cast<std::size_t>(part_)] = std::move(table);
  else
    spare_ = std::move(table.values);
}

void Ensemble::judge_instance(std::size_t promise, const Table& table, std::int64_t row,
                              std::int64_t instance, double time) {
  const program::Expectation& e = program_.expectations[promise];
  Promise& memory = promises_[promise];
  const auto i = static_cast<std::size_t>(instance);
  bool ok = true;
  double value = 0;
  if (e.kind == program::Expectation::Kind::Condition) {
    value = table.at(row, e.value_slot >= 0 ? e.value_slot : e.ok_slot);
    ok = table.at(row, e.ok_slot) == 1;
    if (e.scale_slot >= 0)
      if (const double sigma = table.at(row, e.scale_slot); !(sigma > 0)) {
        ok = false;
        if (memory.undecided.empty()) memory.undecided = undecided(e, sigma);
      }
  } else {
    const double now = table.at(row, e.value_slot);
    if (std::isnan(memory.first[i])) memory.first[i] = now;
    const bool drift = e.kind == program::Expectation::Kind::Drift;
    memory.largest_scale[i] = std::max(
        memory.largest_scale[i], std::abs(drift ? memory.first[i] : table.at(row, e.scale_slot)));
    const double change = std::abs(now - memory.first[i]);
    if (!(change <= memory.largest_change[i])) memory.largest_change[i] = change;
    value = memory.largest_change[i] == 0 ? 0 : memory.largest_change[i] / memory.largest_scale[i];
    ok = value < e.bound || memory.largest_change[i] == 0;
  }
  const bool kept = e.kind == program::Expectation::Kind::Condition;
  // a broken condition is shown as it was first broken; the others by the largest value
  const bool show = memory.instance < 0 || (memory.ok && (!ok || kept || value > memory.value)) ||
                    (!memory.ok && !kept && value > memory.value);
  if (show) {
    memory.value = value;
    memory.time = time;
    memory.instance = instance;
  }
  memory.ok = memory.ok && ok;
}

/// Why an expectation whose standard error is 0 or unknown is undecided.
std::string Ensemble::undecided(const program::Expectation& e, double sigma) const {
  if (sigma == 0) return "sigma is 0: all values are the same";
  const auto own = unknown_.find(e.scale_slot);  // otherwise it is computed from several averages
  const auto one = own != unknown_.end() ? own : unknown_.begin();
  return "sigma is not known: " + (one != unknown_.end()
                                       ? observe::reason(one->second)
                                       : std::string("fewer than two instances have a value"));
}

void Ensemble::judge_whole(Table& all, double time) {
  const bool any = std::any_of(program_.expectations.begin(), program_.expectations.end(),
                               [](const auto& e) { return e.at_end; });
  if (!any) return;
  complete(all);
  for (std::size_t p = 0; p < promises_.size(); ++p) {
    if (!program_.expectations[p].at_end) continue;
    for (std::int64_t i = 0; i < all.instances; ++i)
      if (!failed(i)) judge_instance(p, all, i, i, time);
  }
}

/// Checks the criteria that stop a run: a target holds where it holds in every instance run so far.
void Ensemble::check_stop_criteria(const Table& table, const io::Moment& at) {
  if (reached() || std::none_of(program_.expectations.begin(), program_.expectations.end(),
                                program::is_stop_criterion))
    return;
  Table all = table;
  complete(all);
  for (const program::Expectation& e : program_.expectations) {
    if (!program::is_stop_criterion(e)) continue;
    double largest = -std::numeric_limits<double>::infinity();
    std::int64_t holds = 0, sound = 0;
    for (std::int64_t i = 0; i < all.instances; ++i) {
      if (failed(i)) continue;
      ++sound;
      holds += all.at(i, e.ok_slot) == 1 ? 1 : 0;
      largest = std::fmax(largest, all.at(i, e.value_slot));
    }
    if (sound == 0 || holds < sound) continue;
    reached_ =
        fmt::format("`{}` held at t = {:.6g}, step {}, with {} of {} instances: {:.4g}", e.text,
                    at.time, at.step, all.instances, program_.all_instances(), largest);
    return;
  }
}

/// Fills in statistics over axes, errors of averages over time, and scalars computed from both.
void Ensemble::complete(Table& all) {
  errors_over_time(program_.watch_statistics, all);
  apply(program_.watch_statistics, program_.watch_then, all);
}

void Ensemble::errors_over_time(std::span<const Statistic> statistics, Table& all) {
  for (const Statistic& s : statistics) {
    const auto timed = std::ranges::find(timed_, &s, &Timed::statistic);
    if (timed == timed_.end() || !timed->on || s.error_slot < 0) continue;
    const auto& histories = times_[static_cast<std::size_t>(timed - timed_.begin())];
    for (std::int64_t i = 0; i < all.instances; ++i) {
      if (failed(i)) continue;
      const observe::ChainAverage found = observe::chain_average(windows_of(
          histories[static_cast<std::size_t>(i)], all.at(i, s.count_slot), all.at(i, s.slot)));
      all.at(i, s.error_slot) = found.error;
      if (found.is_known()) continue;
      unknown_[s.error_slot] = found.known;
      if (!program_.chain)
        notes_.insert(
            fmt::format("an error of an average over time is not known: {}, where a value "
                        "is the average between two outputs; make the run longer",
                        observe::reason(found.known)));
    }
  }
}

}  // namespace vphi::runtime
