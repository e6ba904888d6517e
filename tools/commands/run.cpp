// vphi run: model text to results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "embed/failing_term.hpp"
#include "embed/prepare.hpp"
#include "embed/ranks.hpp"
#include "embed/report_data.hpp"
#include "runtime/device/ceilings.hpp"
#include "runtime/report/page.hpp"
#include "runtime/run/chain_averages.hpp"
#include "runtime/run/run.hpp"
#include "tools/commands/portable.hpp"
#include "tools/commands/run_words.hpp"
#include "tools/compile_watch.hpp"
#include "tools/model.hpp"
#include "tools/oracle/error_check.hpp"
#include "tools/running/launched_ranks.hpp"
#include "tools/running/live.hpp"
#include "tools/running/page.hpp"
#include "tools/running/progress.hpp"
#include "tools/running/resume.hpp"
#include "tools/running/run_folder.hpp"
#include "tools/running/stop.hpp"
#include "tools/say.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

constexpr double kWorthMeasuring = 1.0;  ///< seconds of run that justify a measurement of 0.1 s
constexpr double kWorthMore = 10.0;      ///< and one of 0.3 s

struct Wanted {
  ModelOptions model;
  std::string device = "auto", out;
  bool json = false, quiet = false, error_check = false, no_report = false, live = false;
  bool precision_check = false;
  std::string precision_allowed;  ///< as given
  std::int64_t live_port = 0;
  embed::RanksWish ranks;
  LaunchedRanks* launched = nullptr;  ///< null: this process is alone
  KeepWords keep;
  std::optional<PortableProgram> portable;  ///< in the place of a model
  bool goes_on = false;                     ///< from a checkpoint

  CompileOptions compile_options() const {
    CompileOptions options = model.compile_options();
    options.renewal = goes_on;  // a run that had reached its end may have another end now
    return options;
  }
};

struct DeviceAndProgram : embed::Prepared {  ///< of a program file: the program alone
  std::vector<std::string> notes = {};       ///< printed before the run
};

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
  wanted.goes_on = true;
  if (wanted.portable) return start;  // its options are those of its compilation
  wanted.model = continued(wanted.model, start.from.reader->head().call);
  start.folder->takes_over(identity_of(path, wanted.model));
  return start;
}

DeviceAndProgram prepare_portable(const Wanted& wanted) {
  const PortableProgram& portable = *wanted.portable;
  DeviceAndProgram made;
  made.device = runtime::open_device(device_of(portable, wanted.device));
  made.notes = check_device(portable, made.device->info());
  made.compilation->program = portable.program;
  made.in_results = portable.notes;
  made.endless = portable.endless;
  return made;
}

DeviceAndProgram prepare(const Wanted& wanted, const std::string& path) {
  if (wanted.portable) return prepare_portable(wanted);
  DeviceAndProgram made;
  const CompileOptions options = wanted.compile_options();
  static_cast<embed::Prepared&>(made) =
      wanted.launched != nullptr
          ? embed::prepare(path, options, wanted.launched->group(wanted.device), wanted.ranks.cut)
          : embed::prepare(path, options, wanted.device, wanted.ranks);
  return made;
}

/// The report of a run before its first step.
vphi::report::Report begin_report(const DeviceAndProgram& made, const Wanted& wanted,
                                  const Words& words) {
  const auto& program = made.shown();
  const auto info = made.first().info();
  vphi::report::Report page = embed::begin_report(
      program, wanted.portable ? nullptr : made.compilation.get(), wanted.compile_options(), info);
  std::optional<std::uint64_t> seed;
  if (!wanted.portable) seed = program.seed;
  page.command = command_text(words, info.id, seed);
  return page;
}

/// report.html in the folder of the results; its path.
std::string write_report(const DeviceAndProgram& made, const Wanted& wanted, const Words& words,
                         const runtime::RunResult& result, double copy, const std::string& folder) {
  const auto& program = made.shown();
  vphi::report::Report page = begin_report(made, wanted, words);
  double flops = 0;
  if (result.performance.seconds > kWorthMore)
    flops = runtime::measure_flops(
        made.first(), page.precision == "f64" ? program::Precision::F64 : program::Precision::F32);
  embed::finish_report(page, program, result, copy, flops);
  const auto path = std::filesystem::path(folder) / "report.html";
  write_page(path, vphi::report::page(page));
  return path.string();
}

/// The largest relative difference that `--precision-check` lets pass.
double allowed_difference(const Wanted& wanted) {
  if (wanted.precision_allowed.empty()) return PrecisionCheck().allowed;
  std::size_t read = 0;
  double value = -1;
  try {
    value = std::stod(wanted.precision_allowed, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read != wanted.precision_allowed.size() || !(value > 0))
    throw UsageError(fmt::format("`{}` is no relative difference", wanted.precision_allowed),
                     "a number above 0: --precision-check=0.001");
  return value;
}

/// Takes a program file instead of a model; it is not compiled again.
void take_program_file(Wanted& wanted, const std::string& path) {
  refuse_model_options(wanted.model, path);
  if (wanted.error_check)
    throw UsageError(fmt::format("--error-check compiles the model again at half the step, and {} "
                                 "is a program file, compiled already",
                                 path),
                     "`vphi run MODEL --error-check` does it");
  if (wanted.precision_check)
    throw UsageError(
        fmt::format("--precision-check compiles the model again in the other precision, "
                    "and {} is a program file, compiled already",
                    path),
        "`vphi run MODEL --precision-check` does it");
  if (wanted.launched != nullptr ||
      embed::devices_of_ranks(wanted.device, wanted.ranks.ranks()).size() > 1 ||
      !wanted.ranks.cut.empty() || wanted.ranks.fastest)
    throw UsageError(
        fmt::format("several ranks share a program that is compiled for the share of each, and {} "
                    "is compiled for all instances",
                    path),
        "`vphi run MODEL --ranks` does it");
  wanted.portable = read_portable(path);
  wanted.model = continued({}, wanted.portable->call);
}

int run_as_first(const Words& given, LaunchedRanks* launched) {
  const Words words = with_live_port(given);
  std::vector<std::string> models;
  Wanted wanted;
  wanted.launched = launched;
  CommandLine line("run MODEL",
                   "Compiles a model (a file, or a shipped model's name) and runs it; or runs a "
                   "program file, which `vphi emit MODEL --to program` has written: it is compiled "
                   "already, so options that would change the model are refused.");
  line.arguments(models, 1, 1);
  wanted.model.declare(line);
  line.value("--device", "ID", wanted.device,
             "auto, native, opencl[:k], cuda[:k]; several: cuda:0,1, cuda:0-7, cuda:all")
      .number_or_auto("--ranks", wanted.ranks.number, wanted.ranks.fastest, 1,
                      "so many ranks share the instances of a sweep, or a lattice; each list of "
                      "GPUs in --device, such as cuda:0,1 or cuda:all, is one too; auto: as many "
                      "of them as are fastest by the model that `vphi check --ranks auto` shows")
      .value(
          "--cut", "AXIS=N", wanted.ranks.cut,
          "N ranks share a lattice and cut it along this axis: z=4, or two: z=4,y=2; sets --ranks")
      .value("--out", "DIR", wanted.out,
             "folder of the results (default: results/MODEL, or MODEL-2, ... beside another run)")
      .flag("--json", wanted.json, "one JSON object with the results on standard output")
      .flag("--quiet", wanted.quiet, "no progress line and no summary")
      .flag("--error-check", wanted.error_check,
            "runs again at half the step and puts the difference beside each value")
      .optional("--precision-check", "WITHIN", wanted.precision_allowed, wanted.precision_check,
                "runs again in the other precision and compares every output; status 2 where a "
                "relative difference is above WITHIN (default 0.01)")
      .flag("--no-report", wanted.no_report, "no report.html beside the results")
      .flag("--live", wanted.live,
            "serves the report on this machine while the run goes; a port may follow")
      .number("--live-port", "PORT", wanted.live_port, 1, "the same port, as an option");
  wanted.keep.declare(line);
  if (!line.parse(words)) return kOk;
  if (wanted.keep.resuming && wanted.keep.restart)
    throw UsageError("--resume and --restart exclude each other",
                     "--resume goes on with an unfinished run, --restart begins again");
  line.obeyed("--live-port", !wanted.live, "the page is served with --live");
  const std::int64_t ranks = wanted.ranks.ranks();
  if (launched != nullptr && wanted.ranks.fastest)
    throw UsageError(fmt::format("--ranks auto, and {} ranks were started", launched->size()),
                     "start as many as `vphi check MODEL --ranks auto` says");
  if (launched != nullptr && ranks > 0 && ranks != launched->size())
    throw UsageError(
        fmt::format(
            "{} {}, and {} ranks were started", wanted.ranks.cut.empty() ? "--ranks" : "--cut",
            wanted.ranks.cut.empty() ? std::to_string(ranks) : wanted.ranks.cut, launched->size()),
        "the number of the launcher is enough");
  const double allowed = allowed_difference(wanted);
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
  const bool failed = made.compilation->diagnostics.has_errors();
  if (failed || !wanted.quiet) report(*made.compilation);
  if (failed) return refused(*made.compilation, wanted.json);
  if (!made.compilation->program)
    throw std::logic_error("the compiler gave no program and no reason");
  const auto& program = made.shown();
  runtime::Device& device = made.first();
  line.obeyed("--batch", program.all_instances() == 1, "the model has no sweep");

  const auto info = device.info();
  // GPUs have a memory each; ranks on processors share theirs
  const double memories = info.is_cpu ? 1 : made.size();
  double copy = memories * runtime::known_copy_bandwidth(info).value_or(0);
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
  made.share(options);
  if (made.whole) options.time_kernels = false;  // what ranks send between launches would count
  const std::int64_t batch = made.ranks ? made.batch : program.instances;
  if (batch < program.all_instances())  // parts go on as they were cut
    options.keep.call.emplace_back("--batch", std::to_string(batch));
  options.tell = [&](const std::string& text) {
    progress.finish();
    say("note: {}\n", text);
  };
  for (const std::string& note : made.notes) options.tell(note);
  if (made.endless)
    options.tell("nothing ends this run: neither `until` nor --steps; Ctrl-C does, after a step");
  if (start.from.reader)
    embed::go_on(start.from, program, wanted.model.until, options);
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
    say("live page: {}\n", live->address());
  }
  const CompileOptions model_options = wanted.compile_options();
  runtime::RunResult result;
  RunChecks checks;
  SpectrumKeeper spectra(options.onlooker);
  if (wanted.precision_check) options.onlooker = &spectra;
  try {
    result = runtime::run(*made.compilation->program, device, options);
    result.notes.insert(result.notes.end(), made.in_results.begin(), made.in_results.end());
    if (live) live->finish(result.interrupted);
    if (wanted.error_check && !result.interrupted) {
      runtime::RunOptions again = options;
      again.onlooker = nullptr;
      again.begins = nullptr;
      again.time_kernels = false;
      checks.errors = error_check(path, model_options, SecondRun(made), result, again);
      result.files.push_back(write_errors(options.out, program.model, checks.errors->list));
    }
    if (wanted.precision_check && !result.interrupted)
      checks.precision = precision_check(path, model_options, *made.compilation, SecondRun(made),
                                         result, spectra, options, allowed);
  } catch (const runtime::BrokenState& broken) {
    progress.finish();
    if (const auto note = folder.fail()) options.tell(*note);
    const std::string cause = embed::failing_term(broken, *made.compilation);
    if (wanted.json) fmt::print("{}\n", to_json(broken, cause));
    print_error(broken.code, broken.what(), broken.hint);
    say("{}", cause);
    return kUserError;
  } catch (...) {
    progress.finish();
    if (const auto note = folder.fail()) options.tell(*note);
    throw;
  }
  progress.finish();
  if (result.interrupted && result.checkpoint == result.steps)
    say("note: stopped after step {}; to go on: vphi run {} --resume={}\n", result.steps, models[0],
        options.out);

  if (copy == 0 && (wanted.json || result.performance.seconds > kWorthMeasuring))
    copy = memories * runtime::copy_bandwidth(device);
  if (!wanted.no_report && !program.outputs.empty()) try {
      result.files.push_back(
          write_report(made, wanted, repeats, result, copy / memories, options.out));
    } catch (const std::exception&
                 failure) {  // the run is done; an error of its page must not change its status
      say("note: no report.html: {}\n", failure.what());
    }
  folder.end(result.interrupted);
  if (wanted.json)
    fmt::print("{}\n", to_json(result, copy, checks));
  else if (!wanted.quiet)
    print_summary(result, copy, checks);
  if (result.interrupted) return status_of_stop();
  if (!result.failures.empty() && wanted.quiet)
    for (const auto& f : result.failures) say("instance failed at {}: {}\n", f.where, f.message);
  if (!result.failures.empty()) return kExpectFailed;
  if (!result.all_expected()) {
    if (wanted.quiet)
      for (const auto& e : result.expectations)
        if (!e.ok) say("expect {}: {}\n", e.text, verdict(e, result.unit));
    return kExpectFailed;
  }
  return checks.precision && !checks.precision->passed() ? kExpectFailed : kOk;
}

}  // namespace

int run(const Words& given) {
  auto launched = LaunchedRanks::find();
  if (launched && !launched->first()) return launched->work();
  // The others end after this rank has printed what there is: end_launched_ranks.
  auto& first = first_of_launched();
  first = std::move(launched);
  try {
    return run_as_first(given, first.get());
  } catch (const comm::CommError&) {
    first.release();  // they cannot be reached any more; what started them ends them
    throw;
  }
}

}  // namespace vphi::tools
