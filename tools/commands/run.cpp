// vphi run: model text to results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "runtime/device/ceilings.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/report/page.hpp"
#include "runtime/report/read.hpp"
#include "runtime/run/chain_averages.hpp"
#include "runtime/run/run.hpp"
#include "tools/commands/portable.hpp"
#include "tools/compile_watch.hpp"
#include "tools/failing_term.hpp"
#include "tools/live.hpp"
#include "tools/model.hpp"
#include "tools/oracle/error_check.hpp"
#include "tools/page.hpp"
#include "tools/progress.hpp"
#include "tools/resume.hpp"
#include "tools/run_folder.hpp"
#include "tools/stop.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPlaces = 1000;  ///< of a sweep in the JSON; more are summarised
constexpr double kWorthMeasuring = 1.0;    ///< seconds of run that justify a measurement of 0.1 s
constexpr double kWorthMore = 10.0;        ///< and one of 0.3 s

struct Wanted {
  ModelOptions model;
  std::string device = "auto", out;
  bool json = false, quiet = false, error_check = false, no_report = false, live = false;
  std::int64_t live_port = 0;
  KeepWords keep;
  std::optional<PortableProgram> portable;  ///< in the place of a model
};

/// JSON has no NaN or infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(number(v));
  return list;
}

/// Of a row of too many places: their number, those without a value, and what they come to.
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
      fmt::print("  <{}> = {:.8g} +- {:.2g}, tau_int = {:.3g} +- {:.1g} of {} rows\n", name, a.mean,
                 a.error, a.tau_int, a.tau_error, a.values);
    else
      fmt::print("  <{}> = {:.8g}, its error is not known: {} ({} rows)\n", name, a.mean,
                 observe::reason(a.known), a.values);
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
  return fmt::format("{:.8g}{}", value,
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

/// What a sweep leaves to be said: its axes, results along them, curves, instances that failed.
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

std::string to_json(const runtime::RunResult& r, double copy_bandwidth,
                    const std::optional<ErrorCheck>& errors) {
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
  out["interrupted"] = r.interrupted;
  if (r.resumed_from >= 0) out["resumed_from"] = r.resumed_from;
  if (r.checkpoint >= 0) out["checkpoint"] = r.checkpoint;
  out["performance"]["checkpoint_seconds"] = r.checkpoint_seconds;
  if (!r.notes.empty()) out["notes"] = r.notes;
  out["files"] = r.files;
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

/// A run that broke: what other errors are as JSON, and the lines about its cause.
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

/// Standard error of the last row of an average over instances; 0 where it is none, or has none.
double error_of(const runtime::RunResult& r, const std::string& name) {
  const runtime::Series* series = r.find(name);
  if (!series || series->errors.empty() || series->errors.back().size() != 1) return 0;
  const double error = series->errors.back().front();
  return std::isfinite(error) ? error : 0;
}

/// "ok (0.3)", "FAILED (0.3 at t = 2)", "NOT DECIDED (0.3): sigma is not known".
std::string verdict(const runtime::ExpectationResult& e, const std::string& unit) {
  if (e.ok) return fmt::format("ok ({:.3g})", e.value);
  const std::string where = e.where.empty() ? "" : ", " + e.where;
  if (!e.undecided.empty())
    return fmt::format("NOT DECIDED ({:.3g}{}): {}", e.value, where, e.undecided);
  return fmt::format("FAILED ({:.3g} at {} {:.5g}{})", e.value, unit.empty() ? "t =" : unit, e.time,
                     where);
}

/// "400 steps to t = 2", "400 sweeps".
std::string extent_of(const runtime::RunResult& r) {
  if (r.unit.empty()) return fmt::format("{} steps to t = {:.6g}", r.steps, r.time);
  const bool one = r.steps == 1;
  return fmt::format(
      "{} {}", r.steps,
      r.unit == "sweep" ? (one ? "sweep" : "sweeps") : (one ? "trajectory" : "trajectories"));
}

void print_summary(const runtime::RunResult& r, double copy_bandwidth,
                   const std::optional<ErrorCheck>& errors) {
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
    fmt::print("  {} = {:.8g}", name, value);
    if (const double error = error_of(r, name); error > 0)
      fmt::print(" +- {:.2g}{}", error, errors ? " (statistical)" : "");
    if (const Uncertain* u = errors ? find(errors->list, name) : nullptr)
      fmt::print(" +- {:.2g} (at most {:.2g}, at t = {:.4g})", u->last, u->largest, u->at);
    fmt::print("\n");
  }
  for (const auto& e : r.expectations) fmt::print("  expect {}: {}\n", e.text, verdict(e, r.unit));
  print_sweep(r);
  print_chain(r);
  for (const auto& note : r.notes) fmt::print("  note: {}\n", note);
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(kShown, r.files.size()); ++i)
    fmt::print("  -> {}\n", r.files[i]);
  if (r.files.size() > kShown)
    fmt::print("  and {} more, the last {}\n", r.files.size() - kShown, r.files.back());
}

/// Device and program, made side by side where the program does not depend on the device.
struct DeviceAndProgram {
  std::unique_ptr<runtime::Device> device;
  Compilation compilation;                   ///< of a program file: the program alone
  std::vector<std::string> notes = {};       ///< said before the run
  std::vector<std::string> in_results = {};  ///< and after it
  bool endless = false;
};

/// A sweep of more instances than memory holds is compiled again for as many as fit.
void fit_memory(DeviceAndProgram& made, const Wanted& wanted, const std::string& path) {
  const auto& program = made.compilation.program;
  if (wanted.portable || !program || program->instances <= 1 || wanted.model.batch > 0) return;
  const auto info = made.device->info();
  if (info.memory_free == 0) return;
  const std::int64_t batch = runtime::largest_batch(*program, info.memory_free);
  if (batch < 1 || batch >= program->instances) return;
  CompileOptions options = wanted.model.compile_options();
  // parts of one size, so that the last is not nearly empty
  const std::int64_t all = program->all_instances(), parts = (all + batch - 1) / batch;
  options.batch = (all + parts - 1) / parts;
  made.compilation = compile_model(path, options, target_of(info));
}

/// The folder of the run, and the checkpoint to go on from where one is wanted; options that were
/// not given are taken from it.
struct Start {
  std::unique_ptr<RunFolder> folder;
  runtime::FoundCheckpoint from;
};

Start find_start(Wanted& wanted, const std::string& path) {
  const RunIdentity identity =
      wanted.portable ? wanted.portable->identity : identity_of(path, wanted.model);
  FolderWish wish{wanted.out, identity, wanted.keep.restart};
  Start start;
  if (wanted.keep.automatic() || !wanted.keep.resuming) {
    start.folder = std::make_unique<RunFolder>(wish);
    if (!wanted.keep.resuming) return start;
    if (!runtime::has_checkpoint(start.folder->path(), identity.model)) return start;
    start.from = runtime::find_checkpoint(start.folder->path(), identity.model);
    start.folder->resumes();
  } else {
    const std::string place = !wanted.keep.resume.empty() ? wanted.keep.resume
                              : !wanted.out.empty()       ? wanted.out
                                                          : folder_to_resume(identity).string();
    if (wish.out.empty()) wish.out = runtime::folder_of_checkpoint(place).string();
    wish.resuming = true;
    if (!std::filesystem::is_directory(wish.out))  // no folder is made where there is nothing
      runtime::find_checkpoint(place, identity.model);
    start.folder = std::make_unique<RunFolder>(wish);
    start.from = runtime::find_checkpoint(place, identity.model);
  }
  if (wanted.portable) return start;  // its options are those that it was made with
  wanted.model = continued(wanted.model, start.from.reader->head().call);
  start.folder->takes_over(identity_of(path, wanted.model));
  return start;
}

/// What a continued run has to say before it starts; throws where the model is another one.
void go_on(const runtime::FoundCheckpoint& from, const program::Program& program,
           const ModelOptions& model, runtime::RunOptions& options) {
  const auto& head = from.reader->head();
  std::vector<std::string> notes = from.notes;
  for (auto& note : check_same_model(head, program)) notes.push_back(std::move(note));
  std::string until_then = until_of(head.model_text), until_now = until_of(program.model_text);
  for (const auto& [name, value] : head.call)
    if (name == "--until") until_then = value;
  if (!model.until.empty()) until_now = model.until;
  options.past_stop = until_then != until_now;
  notes.push_back(fmt::format("goes on from step {}, t = {:.6g}: {}", head.step, head.time,
                              from.path.string()));
  for (const auto& note : notes) options.tell(note);
  options.resume = from.reader;
}

DeviceAndProgram prepare_portable(const Wanted& wanted) {
  const PortableProgram& portable = *wanted.portable;
  DeviceAndProgram made;
  made.device = runtime::open_device(device_of(portable, wanted.device));
  made.notes = check_device(portable, made.device->info());
  made.compilation.program = portable.program;
  made.in_results = portable.notes;
  made.endless = portable.endless;
  return made;
}

DeviceAndProgram compile_for_run(const Wanted& wanted, const std::string& path) {
  const CompileOptions options = wanted.model.compile_options();
  DeviceAndProgram made;
  if (wanted.device == "native") {
    auto target = default_target("native");
    target.compute_units = runtime::native_info().compute_units;
    auto compiling =
        std::async(std::launch::async, [&] { return compile_model(path, options, target); });
    try {
      made.device = runtime::open_device("native");
    } catch (const runtime::DeviceError&) {
      made.compilation = compiling.get();
      if (!made.compilation.diagnostics.has_errors()) throw;
      return made;  // the model's own mistakes come first
    }
    made.compilation = compiling.get();
    return made;
  }
  made.device = runtime::open_device(wanted.device);
  made.compilation = compile_model(path, options, target_of(made.device->info()));
  return made;
}

DeviceAndProgram prepare(const Wanted& wanted, const std::string& path) {
  if (wanted.portable) return prepare_portable(wanted);
  DeviceAndProgram made = compile_for_run(wanted, path);
  if (made.device) fit_memory(made, wanted, path);
  made.in_results = notes_for_results(made.compilation);
  made.endless = endless(made.compilation);
  return made;
}

/// What is known of a run before its first step.
vphi::report::Report begin_report(const DeviceAndProgram& made, const Wanted& wanted,
                                  const Words& words) {
  const auto& program = *made.compilation.program;
  const auto info = made.device->info();
  vphi::report::Report page;
  vphi::report::take_program(page, program);
  std::optional<std::uint64_t> seed;
  if (!wanted.portable) {
    take_compilation(page, made.compilation, wanted.model.compile_options());
    seed = program.seed;
  }
  take_machine(page, info);
  page.device = info.name;
  page.command = command_text(words, info.id, seed);
  return page;
}

/// report.html in the folder of the results; its path.
std::string write_report(const DeviceAndProgram& made, const Wanted& wanted, const Words& words,
                         const runtime::RunResult& result, double copy, const std::string& folder) {
  const auto& program = *made.compilation.program;
  vphi::report::Report page = begin_report(made, wanted, words);
  vphi::report::take_result(page, program, result);
  page.speed.copy_bandwidth = copy;
  if (result.performance.seconds > kWorthMore)
    page.speed.flops = runtime::measure_flops(
        *made.device, page.precision == "f64" ? program::Precision::F64 : program::Precision::F32);
  for (const auto& file : result.files)
    if (std::filesystem::path(file).extension() == ".h5") {
      vphi::report::Report from_file;
      vphi::report::read_results(from_file, file, vphi::report::Origin::Ours);
      vphi::report::take_fields(page, std::move(from_file));
    }
  vphi::report::name_axes(page, program);
  const auto path = std::filesystem::path(folder) / "report.html";
  write_page(path, vphi::report::page(page));
  return path.string();
}

/// A program file in the place of a model: what was compiled stays as it is.
void take_program_file(Wanted& wanted, const std::string& path) {
  refuse_model_options(wanted.model, path);
  if (wanted.error_check)
    throw UsageError(fmt::format("--error-check compiles the model again at half the step, and {} "
                                 "is a program file, compiled already",
                                 path),
                     "`vphi run MODEL --error-check` does it");
  wanted.portable = read_portable(path);
  wanted.model = continued({}, wanted.portable->call);
}

}  // namespace

int run(const Words& given) {
  const Words words = with_live_port(given);
  std::vector<std::string> models;
  Wanted wanted;
  CommandLine line("run MODEL",
                   "Compiles a model (a file, or a shipped model's name) and runs it; or runs a "
                   "program file, which `vphi emit MODEL --to program` has written: it is compiled "
                   "already, so options that would change the model are refused.");
  line.arguments(models, 1, 1);
  wanted.model.declare(line);
  line.value("--device", "ID", wanted.device, "auto, native, opencl[:k], cuda[:k]")
      .value("--out", "DIR", wanted.out,
             "folder of the results (default: results/MODEL, or MODEL-2, ... beside another run)")
      .flag("--json", wanted.json, "one JSON object with the results on standard output")
      .flag("--quiet", wanted.quiet, "no progress line and no summary")
      .flag("--error-check", wanted.error_check,
            "runs again at half the step and puts the difference beside each value")
      .flag("--no-report", wanted.no_report, "no report.html beside the results")
      .flag("--live", wanted.live,
            "serves the report on this machine while the run goes; a port may follow")
      .number("--live-port", "PORT", wanted.live_port, 1, "the same port, as an option");
  wanted.keep.declare(line);
  if (!line.parse(words)) return kOk;
  line.obeyed("--live-port", !wanted.live, "the page is served with --live");
  const std::string path = find_model(models[0]);
  if (is_program_file(path)) take_program_file(wanted, path);
  runtime::RunOptions options;
  options.keep = wanted.keep.options();
  const Start start = find_start(wanted, path);
  RunFolder& folder = *start.folder;
  Words repeats = words;  // what makes this run again, from its beginning
  if (wanted.keep.resuming) {
    repeats = {models[0]};
    if (!wanted.portable)
      for (const auto& [name, value] : call_of(wanted.model))
        repeats.insert(repeats.end(), {name, value});
  }

  const DeviceAndProgram made = prepare(wanted, path);
  const bool failed = made.compilation.diagnostics.has_errors();
  if (failed || !wanted.quiet) report(made.compilation);
  if (failed) return refused(made.compilation, wanted.json);
  if (!made.compilation.program)
    throw std::logic_error("the compiler gave no program and no reason");
  const auto& program = *made.compilation.program;
  runtime::Device& device = *made.device;
  line.obeyed("--batch", program.all_instances() == 1, "the model has no sweep");

  const auto info = device.info();
  double copy = runtime::known_copy_bandwidth(info).value_or(0);
  ProgressLine progress(copy, terminal(stderr), runtime::chain_unit(program));
  options.out = folder.path().string();
  options.interrupt = &stop_wish();
  options.time_kernels = !wanted.no_report;
  options.progress_interval = progress.interval();
  if (!wanted.quiet) options.progress = [&](const auto& now) { progress.show(now); };
  std::optional<CompileWatch> compiling;
  if (!wanted.quiet) compiling.emplace(terminal(stderr));
  listen_to_signals(wanted.json);
  options.keep.now = &checkpoint_wish();
  options.keep.call = call_of(wanted.model);
  if (program.instances < program.all_instances())  // parts go on as they were cut
    options.keep.call.emplace_back("--batch", std::to_string(program.instances));
  options.tell = [&](const std::string& text) {
    progress.finish();
    fmt::print(stderr, "note: {}\n", text);
  };
  for (const std::string& note : made.notes) options.tell(note);
  if (made.endless)
    options.tell("nothing ends this run: neither `until` nor --steps; Ctrl-C does, after a step");
  if (start.from.reader)
    go_on(start.from, program, wanted.model, options);
  else
    folder.check_unfinished();
  for (const std::string& note : folder.notes()) options.tell(note);
  options.begins = [&] {
    folder.begin(program);
    results_begin();
  };
  std::optional<LivePage> live;
  if (wanted.live) {
    live.emplace(begin_report(made, wanted, repeats), program, wanted.live_port);
    options.onlooker = &live->onlooker();
    fmt::print(stderr, "live page: {}\n", live->address());
  }
  runtime::RunResult result;
  std::optional<ErrorCheck> errors;
  try {
    result = runtime::run(program, device, options);
    result.notes.insert(result.notes.end(), made.in_results.begin(), made.in_results.end());
    if (live) live->finish(result.interrupted);
    if (wanted.error_check && !result.interrupted) {
      runtime::RunOptions again = options;
      again.onlooker = nullptr;
      again.begins = nullptr;
      again.time_kernels = false;
      errors = error_check(path, wanted.model.compile_options(), device, result, again);
      result.files.push_back(write_errors(options.out, program.model, errors->list));
    }
  } catch (const runtime::BrokenState& broken) {
    progress.finish();
    if (const auto note = folder.fail()) options.tell(*note);
    const std::string cause = failing_term(broken, made.compilation);
    if (wanted.json) fmt::print("{}\n", to_json(broken, cause));
    print_error(broken.code, broken.what(), broken.hint);
    fmt::print(stderr, "{}", cause);
    return kUserError;
  } catch (...) {
    progress.finish();
    if (const auto note = folder.fail()) options.tell(*note);
    throw;
  }
  progress.finish();
  if (result.interrupted && result.checkpoint == result.steps)
    fmt::print(stderr, "note: stopped after step {}; to go on: vphi run {} --resume={}\n",
               result.steps, models[0], options.out);

  if (copy == 0 && (wanted.json || result.performance.seconds > kWorthMeasuring))
    copy = runtime::copy_bandwidth(device);
  if (!wanted.no_report && !program.outputs.empty()) try {
      result.files.push_back(write_report(made, wanted, repeats, result, copy, options.out));
    } catch (const std::exception& failure) {  // the run is done; its page is not worth its status
      fmt::print(stderr, "note: no report.html: {}\n", failure.what());
    }
  folder.end(result.interrupted);
  if (wanted.json)
    fmt::print("{}\n", to_json(result, copy, errors));
  else if (!wanted.quiet)
    print_summary(result, copy, errors);
  if (result.interrupted) return status_of_stop();
  if (!result.failures.empty() && wanted.quiet)
    for (const auto& f : result.failures)
      fmt::print(stderr, "instance failed at {}: {}\n", f.where, f.message);
  if (!result.failures.empty()) return kExpectFailed;
  if (!result.all_expected()) {
    if (wanted.quiet)
      for (const auto& e : result.expectations)
        if (!e.ok) fmt::print(stderr, "expect {}: {}\n", e.text, verdict(e, result.unit));
    return kExpectFailed;
  }
  return kOk;
}

}  // namespace vphi::tools
