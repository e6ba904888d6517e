#include "tools/commands/run_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/run/chain_averages.hpp"
#include "runtime/run/number_text.hpp"
#include "tools/running/progress.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using Json = nlohmann::ordered_json;
using runtime::number_text;

constexpr std::size_t kMostPlaces = 1000;  ///< of a sweep in the JSON; more are summarised

/// JSON has no NaN or infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(number(v));
  return list;
}

/// The summary of a row with too many places: their number, those without a value, mean and
/// extremes.
Json summary_json(const std::vector<double>& row) {
  double least = INFINITY, most = -INFINITY, mean = 0, squares = 0;
  std::int64_t count = 0;
  for (const double v : row) {
    if (!std::isfinite(v)) continue;
    ++count;
    least = std::min(least, v), most = std::max(most, v);
    const double step = v - mean;
    mean += step / static_cast<double>(count);
    squares += step * (v - mean);
  }
  const double deviation = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : NAN;
  return {{"places", row.size()},
          {"missing", row.size() - static_cast<std::size_t>(count)},
          {"mean", number(count > 0 ? mean : NAN)},
          {"deviation", number(deviation)},
          {"min", number(least)},
          {"max", number(most)}};
}

/// [[t, value], ...]; of an average over the whole sweep [[t, value, error], ...]; with axes an
/// object of axes, steps, t, values and errors, a flat list for each time, the last axis fastest;
/// of more than kMostPlaces places a summary of each list.
Json series_json(const runtime::Series& series, const runtime::RunResult& r) {
  if (series.axes.empty()) {
    Json points = Json::array();
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto& [t, value] = series.points[i];
      points.push_back(Json::array({number(t), number(value)}));
      if (i < series.errors.size()) points.back().push_back(number(series.errors[i][0]));
    }
    return points;
  }
  Json out;
  out["axes"] = Json::array();
  for (const int axis : series.axes)
    out["axes"].push_back(r.axes[static_cast<std::size_t>(axis)].name);
  out["steps"] = series.steps;
  out["t"] = numbers(series.times);
  const bool many =
      std::ranges::any_of(series.values, [](const auto& row) { return row.size() > kMostPlaces; });
  if (many) {
    out["summary"] = Json::array();
    for (const auto& row : series.values) out["summary"].push_back(summary_json(row));
    return out;
  }
  out["values"] = Json::array();
  for (const auto& row : series.values) out["values"].push_back(numbers(row));
  if (!series.errors.empty()) {
    out["errors"] = Json::array();
    for (const auto& row : series.errors) out["errors"].push_back(numbers(row));
  }
  return out;
}

Json sweep_json(const runtime::RunResult& r) {
  Json out;
  out["axes"] = Json::array();
  for (const auto& axis : r.axes) {
    Json one = {{"name", axis.name}};
    if (axis.values.size() <= kMostPlaces) {
      one["values"] = numbers(axis.values);
    } else {
      one["number"] = axis.values.size();
      one["first"] = number(axis.values.front()), one["last"] = number(axis.values.back());
    }
    one["ensemble"] = axis.ensemble;
    out["axes"].push_back(std::move(one));
  }
  out["plots"] = Json::array();
  for (const auto& plot : r.plots) {
    Json curve = {{"name", plot.name}, {"against", plot.against}};
    curve["x"] = numbers(plot.x);
    curve["y"] = numbers(plot.y);
    if (!plot.error.empty()) curve["error"] = numbers(plot.error);
    out["plots"].push_back(std::move(curve));
  }
  out["failed"] = Json::array();
  for (const auto& f : r.failures)
    out["failed"].push_back({{"instance", f.instance}, {"at", f.where}, {"message", f.message}});
  return out;
}

Json ranks_json(const runtime::RunResult& r) {
  Json out = Json::array();
  for (const runtime::RankInfo& rank : r.ranks) {
    out.push_back(
        {{"device", rank.device},
         {"name", rank.name},
         {"host", rank.host},
         {rank.planes > 0 ? "planes" : "instances", rank.planes > 0 ? rank.planes : rank.instances},
         {"device_bytes", rank.memory_held},
         {"seconds_in_steps", rank.busy}});
    if (rank.lines > 0) out.back()["lines"] = rank.lines;
    if (!rank.planes_go.empty()) out.back()["planes_go"] = rank.planes_go;
    if (!rank.modelled_for.empty())
      out.back()["modelled"] = {{"gpu", rank.modelled_for},
                                {"seconds_in_kernels", rank.modelled_kernels},
                                {"seconds_in_exchanges", rank.modelled_exchanges}};
  }
  return out;
}

const char* shared_part(const runtime::RankInfo& rank) {
  return rank.planes == 0 ? "instances" : rank.row ? "sites" : "planes";
}

/// The model of ranks beside the run: docs/scaling.md.
std::string modelled_step(const runtime::RunResult& r) {
  const runtime::RankInfo& first = r.ranks[0];
  if (first.modelled_for.empty() || r.seconds_a_step() == 0) return {};
  return fmt::format(
      "  a step took {:.3g} ms; modelled for {} {}: {:.3g} ms in kernels, {:.3g} ms in exchanges\n",
      1e3 * r.seconds_a_step(), r.ranks.size(), first.modelled_for, 1e3 * first.modelled_kernels,
      1e3 * first.modelled_exchanges);
}

/// "2 ranks: 500 instances each; the fastest was 98 % of the time in steps": the slowest all of it.
void print_ranks(const runtime::RunResult& r) {
  if (r.ranks.empty()) return;
  const auto [least, most] = std::ranges::minmax(r.ranks, {}, &runtime::RankInfo::busy);
  const bool planes = r.ranks[0].planes > 0;
  const auto share = planes ? &runtime::RankInfo::planes : &runtime::RankInfo::instances;
  const auto [few, many] = std::ranges::minmax(r.ranks, {}, share);
  const std::string each = few.*share == many.*share
                               ? std::to_string(few.*share)
                               : fmt::format("{} or {}", few.*share, many.*share);
  fmt::print("  {} ranks: {} {} each", r.ranks.size(), each, shared_part(r.ranks[0]));
  if (r.ranks[0].lines > 0) fmt::print(", {} lines of them", r.ranks[0].lines);
  if (most.busy > 0)
    fmt::print("; the fastest was {:.0f} % of the time in steps", 100 * least.busy / most.busy);
  if (!r.ranks[0].planes_go.empty())
    fmt::print("; {} go {}", shared_part(r.ranks[0]), r.ranks[0].planes_go);
  fmt::print("\n{}", modelled_step(r));
}

/// Averages of a Markov chain: mean, error, tau_int in units of the rows' distance.
Json chain_json(const runtime::RunResult& r) {
  Json list = Json::array();
  for (const auto& [name, a, early] : r.chain)
    list.push_back({{"name", name},
                    {"values", a.values},
                    {"mean", number(a.mean)},
                    {"error", number(a.error)},
                    {"error_of_error", number(a.error_of_error)},
                    {"tau_int", number(a.tau_int)},
                    {"tau_error", number(a.tau_error)},
                    {"window", a.window},
                    {"blocked", a.blocked},
                    {"converged", a.is_known()},
                    {"unknown", a.is_known() ? Json() : Json(observe::reason(a.known))},
                    {"early", number(early)}});
  return list;
}

/// "plaquette = 0.59371 +- 0.00024, tau_int = 1.4 +- 0.2 of 1000 rows"; no number stands for an
/// error that is not known.
void print_chain(const runtime::RunResult& r) {
  for (const auto& [name, a, early] : r.chain) {
    if (a.values < 2) continue;
    if (a.is_known())
      fmt::print("  <{}> = {} +- {:.2g}, tau_int = {:.3g} +- {:.1g} of {} rows\n", name,
                 number_text(a.mean, 8), a.error, a.tau_int, a.tau_error, a.values);
    else
      fmt::print("  <{}> = {}, its error is not known: {} ({} rows)\n", name,
                 number_text(a.mean, 8), observe::reason(a.known), a.values);
  }
  if (!r.acceptance.empty()) fmt::print("  accepted: {}\n", runtime::acceptance_text(r.acceptance));
}

/// Places of a table that are shown: all of a short one, every so many of a long one.
constexpr std::size_t kShownPlaces = 12;
std::size_t stride_of(std::size_t places) {
  return std::max<std::size_t>(1, (places + kShownPlaces - 1) / kShownPlaces);
}

/// "2.5 +- 0.1".
std::string value_text(double value, double error) {
  return fmt::format("{}{}", number_text(value, 8),
                     std::isfinite(error) ? fmt::format(" +- {:.2g}", error) : "");
}

/// Results of `at end` along parameters: one row of numbers, a place in each line. Draws of an
/// ensemble are not tables, and what a plot shows is shown there.
void print_table(const runtime::Series& series, const runtime::RunResult& r) {
  if (series.axes.empty() || series.values.size() != 1) return;
  std::vector<const runtime::SweptAxis*> axes;
  std::string along;
  for (const int axis : series.axes) {
    axes.push_back(&r.axes[static_cast<std::size_t>(axis)]);
    along += (along.empty() ? "" : ", ") + axes.back()->name;
  }
  const bool drawn = std::ranges::any_of(axes, [](const auto* axis) { return axis->ensemble; });
  const bool plotted = std::ranges::any_of(r.plots, [&](const runtime::Plot& plot) {
    return plot.name == series.name && axes.size() == 1 && plot.against == axes[0]->name;
  });
  if (drawn || plotted) return;
  fmt::print("  {} at the end, along {}:\n", series.name, along);
  const std::vector<double>& row = series.values[0];
  const std::vector<double> errors =
      series.errors.empty() ? std::vector<double>() : series.errors[0];
  const std::size_t stride = stride_of(row.size());
  for (std::size_t i = 0; i < row.size(); i += stride) {
    std::string place;
    std::size_t rest = i;
    for (std::size_t k = axes.size(); k-- > 0;) {
      const auto& values = axes[k]->values;
      place = fmt::format("{:<12.6g} {}", values[rest % values.size()], place);
      rest /= values.size();
    }
    fmt::print("    {}{}\n", place, value_text(row[i], i < errors.size() ? errors[i] : NAN));
  }
  if (stride > 1) fmt::print("    every {}. of {} values\n", stride, row.size());
}

/// Prints a sweep: its axes, results along them, curves, instances that failed.
void print_sweep(const runtime::RunResult& r) {
  constexpr std::size_t kShown = 5;
  if (r.axes.empty()) return;
  std::string axes;
  for (const auto& axis : r.axes)
    axes += fmt::format("{}{} ({}{})", axes.empty() ? "" : ", ", axis.name, axis.values.size(),
                        axis.ensemble ? ", ensemble" : "");
  fmt::print("  sweep: {}\n", axes);
  for (const auto& series : r.series) print_table(series, r);
  for (const auto& plot : r.plots) {
    fmt::print("  {} against {}:\n", plot.name, plot.against);
    for (std::size_t i = 0; i < plot.x.size(); i += stride_of(plot.x.size()))
      fmt::print("    {:<12.6g} {}\n", plot.x[i],
                 value_text(plot.y[i], plot.error.empty() ? NAN : plot.error[i]));
  }
  for (std::size_t i = 0; i < std::min(kShown, r.failures.size()); ++i)
    fmt::print("  FAILED at {}: {}\n", r.failures[i].where, r.failures[i].message);
  if (r.failures.size() > kShown)
    fmt::print("  and {} other instances\n", r.failures.size() - kShown);
}

Json precision_json(const PrecisionCheck& check) {
  Json out = {{"ok", check.passed()},
              {"shown", check.shown},
              {"allowed", check.allowed},
              {"rows", Json::array()}};
  for (const Compared& row : check.rows) {
    Json one = {{"name", row.name},       {"difference", number(row.difference)},
                {"t", number(row.time)},  {"f32", number(row.f32)},
                {"f64", number(row.f64)}, {"of_largest", row.of_largest}};
    if (row.k >= 0) one["k"] = number(row.k);
    out["rows"].push_back(std::move(one));
  }
  return out;
}

/// Standard error of the last row of an average over instances; 0 where it is none, or has none.
double error_of(const runtime::RunResult& r, const std::string& name) {
  const runtime::Series* series = r.find(name);
  if (!series || series->errors.empty() || series->errors.back().size() != 1) return 0;
  const double error = series->errors.back().front();
  return std::isfinite(error) ? error : 0;
}

/// "400 steps to t = 2", "400 sweeps".
std::string extent_of(const runtime::RunResult& r) {
  if (r.unit.empty()) return fmt::format("{} steps to t = {:.6g}", r.steps, r.time);
  const bool one = r.steps == 1;
  return fmt::format(
      "{} {}", r.steps,
      r.unit == "sweep" ? (one ? "sweep" : "sweeps") : (one ? "trajectory" : "trajectories"));
}

}  // namespace

std::string to_json(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks) {
  const std::optional<ErrorCheck>& errors = checks.errors;
  Json out;
  out["ok"] = !r.interrupted && r.failures.empty() && r.all_expected();
  out["model"] = r.model;
  out["device"] = r.device;
  out["steps"] = r.steps;
  out["time"] = number(r.time);
  out["scalars"] = Json::object();
  for (const auto& [name, value] : r.scalars) out["scalars"][name] = number(value);
  out["series"] = Json::object();
  for (const auto& series : r.series) out["series"][series.name] = series_json(series, r);
  if (!r.axes.empty()) out.update(sweep_json(r));
  if (!r.ranks.empty()) out["ranks"] = ranks_json(r);
  if (!r.chain.empty()) out["chain"] = chain_json(r);
  if (!r.acceptance.empty()) out["acceptance"] = r.acceptance;
  out["expect"] = Json::array();
  for (const auto& e : r.expectations)
    out["expect"].push_back({{"text", e.text}, {"ok", e.ok}, {"value", number(e.value)}});
  for (std::size_t i = 0; i < r.expectations.size(); ++i) {
    const auto& e = r.expectations[i];
    if (!e.undecided.empty()) out["expect"][i]["undecided"] = e.undecided;
    if (!e.where.empty()) out["expect"][i]["where"] = e.where;
  }
  const auto& p = r.performance;
  const double share =
      copy_bandwidth > 0 ? p.site_updates_per_s * p.bytes_per_site / copy_bandwidth : NAN;
  out["performance"] = {{"seconds", p.seconds},
                        {"site_updates_per_s", number(p.site_updates_per_s)},
                        {"bytes_per_site", p.bytes_per_site},
                        {"fraction_of_copy", number(share)},
                        {"first_step_seconds", p.first_step_seconds},
                        {"device_bytes", p.device_bytes}};
  if (errors) {
    out["error_check"] = Json::object();
    out["error_check_apart"] = number(errors->time_difference);
    for (const Uncertain& u : errors->list)
      out["error_check"][u.name] = {{"last", number(u.last)},
                                    {"largest", number(u.largest)},
                                    {"at", number(u.at)},
                                    {"scale", number(u.scale)}};
  }
  if (checks.precision) out["precision_check"] = precision_json(*checks.precision);
  out["interrupted"] = r.interrupted;
  if (r.resumed_from >= 0) out["resumed_from"] = r.resumed_from;
  if (r.checkpoint >= 0) out["checkpoint"] = r.checkpoint;
  out["performance"]["checkpoint_seconds"] = r.checkpoint_seconds;
  if (!r.notes.empty()) out["notes"] = r.notes;
  out["files"] = r.files;
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const runtime::BrokenState& broken, const std::string& cause) {
  Json error = {{"code", broken.code}, {"message", broken.what()}};
  if (!broken.hint.empty()) error["hint"] = broken.hint;
  error["cause"] = Json::array();
  std::istringstream lines(cause);
  for (std::string line; std::getline(lines, line);)
    error["cause"].push_back(line.substr(std::min(line.size(), line.find_first_not_of(" ="))));
  if (broken.step >= 0) error["step"] = broken.step;
  const Json all = {{"ok", false}, {"status", kUserError}, {"error", std::move(error)}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string verdict(const runtime::ExpectationResult& e, const std::string& unit) {
  if (e.ok) return fmt::format("ok ({})", number_text(e.value, 3));
  const std::string where = e.where.empty() ? "" : ", " + e.where;
  if (!e.undecided.empty())
    return fmt::format("NOT DECIDED ({}{}): {}", number_text(e.value, 3), where, e.undecided);
  return fmt::format("FAILED ({} at {} {:.5g}{})", number_text(e.value, 3),
                     unit.empty() ? "t =" : unit, e.time, where);
}

void print_summary(const runtime::RunResult& r, double copy_bandwidth, const RunChecks& checks) {
  const std::optional<ErrorCheck>& errors = checks.errors;
  const auto& p = r.performance;
  fmt::print("{} on {}: {} in {}, {}site updates/s", r.model, r.device, extent_of(r),
             duration_text(p.seconds), with_prefix(p.site_updates_per_s));
  if (copy_bandwidth > 0)
    fmt::print(" ({:.0f} % of copy)",
               100 * p.site_updates_per_s * p.bytes_per_site / copy_bandwidth);
  fmt::print("\n");
  if (r.interrupted)
    fmt::print("interrupted: the step was finished, results are complete up to here\n");
  if (errors) fmt::print("  beside each value: its difference from the run at half the step\n");
  if (errors && errors->time_difference > 0)
    fmt::print("  (at the same program time, where t itself differs by up to {:.2g})\n",
               errors->time_difference);
  for (const auto& [name, value] : r.scalars) {
    if (std::ranges::count(r.unreached, name) > 0) {
      fmt::print("  {}: not reached\n", name);
      continue;
    }
    fmt::print("  {} = {}", name, number_text(value, 8));
    if (const double error = error_of(r, name); error > 0)
      fmt::print(" +- {:.2g}{}", error, errors ? " (statistical)" : "");
    if (const Uncertain* u = errors ? find(errors->list, name) : nullptr)
      fmt::print(" +- {:.2g} (at most {:.2g}, at t = {:.4g})", u->last, u->largest, u->at);
    fmt::print("\n");
  }
  for (const auto& e : r.expectations) fmt::print("  expect {}: {}\n", e.text, verdict(e, r.unit));
  print_sweep(r);
  print_ranks(r);
  print_chain(r);
  if (checks.precision) print_precision(*checks.precision);
  for (const auto& note : r.notes) fmt::print("  note: {}\n", note);
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(kShown, r.files.size()); ++i)
    fmt::print("  -> {}\n", r.files[i]);
  if (r.files.size() > kShown)
    fmt::print("  and {} more, the last {}\n", r.files.size() - kShown, r.files.back());
}

}  // namespace vphi::tools
