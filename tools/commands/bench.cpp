// vphi bench: a model's steps, or the bare device, against the device's measured ceilings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runtime/device/ceilings.hpp"
#include "runtime/device/limits.hpp"
#include "runtime/run/launch_time.hpp"
#include "runtime/run/run.hpp"
#include "tools/commands/transform_limits.hpp"
#include "tools/compile_watch.hpp"
#include "tools/model.hpp"
#include "tools/running/progress.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using program::Precision;

struct Timing {
  std::int64_t steps = 0;
  double seconds_per_step = 0;      ///< best of the repetitions
  double spread = 0;                ///< median over best
  std::vector<double> rounds = {};  ///< a step, of each of Program::solves
};

/// A condition that never holds, which the compiler cannot know, so that kernels still test it.
constexpr const char* kNever = "t*t > 1e300";

/// Repetitions of so many steps as fill `seconds`, outputs left out. `unit`: steps that kernels
/// take together; a repetition is a multiple of it. Where `unit` steps take much longer than
/// `seconds`, fewer repetitions are made.
Timing time_steps(runtime::Session& session, std::int64_t steps, std::int64_t unit,
                  double seconds) {
  auto& device = session.device();
  const auto timed = [&](std::int64_t count) {
    session.prepare(count);
    device.synchronise();
    const int start = device.mark();
    session.advance(count);
    const int end = device.mark();
    device.synchronise();
    return device.seconds_between(start, end);
  };
  constexpr int kMostRepetitions = 9, kFewestRepetitions = 3;
  constexpr double kLong = 20;  // times `seconds`
  const double first = timed(unit);
  const bool slow = first > kLong * seconds;
  if (steps <= 0) {
    steps = slow ? unit : 2 * unit;
    while (!slow && steps < (1 << 20) && timed(steps) < seconds) steps *= 2;
  }
  steps = (steps + unit - 1) / unit * unit;
  const int repetitions = slow ? kFewestRepetitions : kMostRepetitions;
  const std::vector<double> before = session.rounds_made();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(timed(steps) / static_cast<double>(steps));
  std::vector<double> rounds = session.rounds_made();
  for (std::size_t s = 0; s < rounds.size(); ++s)
    rounds[s] = (rounds[s] - before[s]) / static_cast<double>(repetitions * steps);
  std::sort(times.begin(), times.end());
  return {steps, times.front(), times[times.size() / 2] / times.front(), rounds};
}

/// Launches of the program, the first of each kernel: of the steps, the start and the outputs.
std::vector<program::Launch> one_of_each(const program::Program& program) {
  std::vector<program::Launch> result;
  const auto add = [&](const std::vector<program::Launch>& list) {
    for (program::Launch launch : program.with_iterations(list)) {
      if (std::ranges::any_of(result, [&](const auto& l) { return l.kernel == launch.kernel; }))
        continue;
      launch.solve = -1;  // its iterations are launches of their own here
      launch.maps.clear();
      result.push_back(launch);
    }
  };
  add(program.step);
  for (const auto& step : program.cycle) add(step);
  add(program.prologue);
  for (const auto& output : program.outputs) add(output.launches);
  return result;
}

/// Each kernel by itself: its cost and the time of one launch.
nlohmann::ordered_json time_kernels(const program::Program& program, runtime::Session& session) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& launch : one_of_each(program)) {
    const double seconds = runtime::launch_seconds(session, launch);
    const auto& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    const auto r = session.report(launch.kernel);
    list.push_back({{"name", kernel.name},
                    {"seconds", seconds},
                    {"registers", r.registers},
                    {"spilled_bytes", r.spilled_bytes},
                    {"loads", kernel.loads},
                    {"stores", kernel.stores},
                    {"bytes", kernel.bytes},
                    {"flops", kernel.flops}});
  }
  return list;
}

/// Where `vphi bench MODEL --kernels` ends: no step is timed as a whole.
int bench_kernels(const program::Program& program, runtime::Device& device,
                  nlohmann::ordered_json& out, bool json) {
  runtime::Session session(program, device);
  session.start();
  out["model"] = program.model;
  out["lattice"] = std::vector(program.extent.begin(), program.extent.begin() + program.dims);
  out["kernels"] = time_kernels(program, session);
  if (json) return kOk;
  for (const auto& k : out["kernels"])
    fmt::print("  {:24s} {:10.4f} ms, {} registers, {} bytes spilled, {} flops a site\n",
               k["name"].get<std::string>(), 1e3 * k["seconds"].get<double>(),
               k["registers"].get<int>(), k["spilled_bytes"].get<int>(), k["flops"].get<int>());
  return kOk;
}

/// Options and device for all models of a call.
struct Bench {
  ModelOptions options;
  std::int64_t milliseconds = 100;  ///< of a repetition
  bool json = false, kernels = false, all = false;
  std::int64_t sites = 0;  ///< with `all`: lattices are doubled until they have as many
  runtime::Ceilings ceilings;
};

/// The rates of caches, each with the largest size that has about this rate.
std::string cache_text(const std::vector<runtime::CacheRate>& caches) {
  std::string text;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const bool same = i + 1 < caches.size() && caches[i + 1].rate > 0.9 * caches[i].rate;
    if (!same)
      text += fmt::format(" {:.1f} in {:.0f} MB,", caches[i].rate / 1e9, caches[i].bytes / 1e6);
  }
  return text;
}

CompileOptions compile_options(const Bench& bench) {
  CompileOptions compile = bench.options.compile_options();
  // --steps counts those of a repetition here; the model's end must not stop it
  compile.steps = -1;
  // Instances whose run has ended do no work or only copy, which must not be timed.
  if (compile.until.empty()) compile.until = kNever;
  return compile;
}

std::string extent_text(const program::Program& program) {
  return runtime::shape_text({program.extent.data(), static_cast<std::size_t>(program.dims)});
}

/// The lattice doubled along every axis until all instances together have `sites` sites; empty
/// where it has them already, or has one site, or its sites are particles.
std::string doubled_lattice(const program::Program& program, std::int64_t sites) {
  if (program.sites() <= 1) return {};
  auto extent = program.extent;
  const auto count = [&] {
    std::int64_t n = program.instances;
    for (int axis = 0; axis < program.dims; ++axis) n *= extent[static_cast<std::size_t>(axis)];
    return n;
  };
  if (count() >= sites) return {};
  while (count() < sites)
    for (int axis = 0; axis < program.dims; ++axis) extent[static_cast<std::size_t>(axis)] *= 2;
  std::string text;
  for (int axis = 0; axis < program.dims; ++axis)
    text += fmt::format("{}{}", axis > 0 ? "*" : "", extent[static_cast<std::size_t>(axis)]);
  return text;
}

/// How many sites a lattice of `bench --all` may have at most for a step to end in a few seconds.
/// Only solves make a step of a full device long: one step of the model as it is shipped is timed.
std::int64_t sites_in_time(const Bench& bench, const program::Program& shipped,
                           runtime::Device& device) {
  constexpr double kLongest = 2;  // seconds of a step
  if (shipped.solves.empty()) return bench.sites;
  program::Program program = shipped;
  program.outputs.clear();
  program.watch.clear();
  runtime::Session session(program, device);
  session.start();
  const double seconds = time_steps(session, 1, 1, 0).seconds_per_step;
  const auto sites = static_cast<double>(program.sites() * program.instances);
  return static_cast<std::int64_t>(
      std::min(static_cast<double>(bench.sites), sites * kLongest / seconds));
}

/// What was measured, beside the least time that the device's ceilings allow.
nlohmann::ordered_json row_of(const Bench& bench, const program::Program& program,
                              runtime::Session& session, const Timing& t) {
  const auto info = session.device().info();
  const runtime::StepLimits limits =
      runtime::step_limits(program, bench.ceilings, runtime::units_of(info), t.rounds);
  const bool wide = std::ranges::any_of(
      program.buffers, [](const auto& b) { return b.state && b.precision == Precision::F64; });
  const double sites = static_cast<double>(program.sites() * program.instances);
  const double peak = wide ? bench.ceilings.f64 : bench.ceilings.f32;
  const double rate = sites / t.seconds_per_step;
  nlohmann::ordered_json out;
  out["model"] = program.model;
  out["lattice"] = std::vector(program.extent.begin(), program.extent.begin() + program.dims);
  out["instances"] = program.instances;
  out["precision"] = wide ? "f64" : "f32";
  out["steps"] = t.steps;
  out["seconds_per_step"] = t.seconds_per_step;
  out["spread"] = t.spread;
  out["ns_per_site"] = 1e9 / rate;
  out["site_updates_per_s"] = rate;
  out["bytes_per_site"] = limits.bytes;
  out["flops_per_site"] = limits.flops;
  out["fraction_of_copy"] = rate * limits.bytes / bench.ceilings.copy;
  out["fraction_of_flops"] = peak > 0 ? rate * limits.flops / peak : 0;
  const auto share = [&](double seconds) { return seconds / t.seconds_per_step; };
  out["limit"] = {{"seconds", limits.seconds},
                  {"name", limits.name},
                  {"fraction", share(limits.seconds)},
                  {"memory", share(limits.sum.memory)},
                  {"arithmetic", share(limits.sum.arithmetic)},
                  {"special_functions", share(limits.sum.special)},
                  {"latency", share(limits.sum.latency)},
                  {"launch", share(limits.sum.launch)}};
  for (std::size_t i = 0; i < t.rounds.size(); ++i) {
    if (t.rounds[i] == 0) continue;
    const program::Solve& solve = program.solves[i];
    out["solves"].push_back(
        {{"name", solve.name}, {"line", solve.line_number}, {"rounds_per_step", t.rounds[i]}});
  }
  if (limits.expected > 0) out["expected_seconds_per_step"] = limits.expected;
  if (limits.rounds > 0) out["limit"]["rounds"] = limits.rounds / limits.seconds;
  if (limits.transforms.arrays > 0) {
    out["transforms"] = transforms_json(limits.transforms);
    out["limit"]["transforms"] = limits.transforms.seconds / limits.seconds;
  }
  out["device_bytes"] = session.bytes_peak();
  out["kernels"] = nlohmann::ordered_json::array();
  const auto& launches = !program.multi_step.empty() ? program.multi_step
                         : !program.together.empty() ? program.together
                                                     : program.step;
  std::set<int> seen;
  for (const auto& launch : program.with_iterations(launches)) {
    if (!seen.insert(launch.kernel).second) continue;
    const auto r = session.report(launch.kernel);
    out["kernels"].push_back({{"name", program.kernels[launch.kernel].name},
                              {"registers", r.registers},
                              {"spilled_bytes", r.spilled_bytes},
                              {"from_cache", r.from_cache},
                              {"compile_seconds", r.compile_seconds}});
    if (info.target == program::Target::Cuda && r.registers > 0)
      out["kernels"].back()["occupancy_of_registers"] =
          runtime::occupancy_of_registers(r.registers);
  }
  return out;
}

double percent(const nlohmann::ordered_json& value) { return 100 * value.get<double>(); }

void print_row(const nlohmann::ordered_json& row, const std::string& extent) {
  const auto& limit = row["limit"];
  const double seconds = row["seconds_per_step"].get<double>();
  fmt::print("{} {} {}\n", row["model"].get<std::string>(), extent,
             row["precision"].get<std::string>());
  const bool at_outputs = row.contains("timed");
  fmt::print("  {:.4g} ms {}, {:.4g} ns a site, {}site updates/s (median {:.2f} of the best)\n",
             1e3 * seconds,
             at_outputs ? "for all outputs once (a step computes nothing at the sites)" : "a step",
             row["ns_per_site"].get<double>(), with_prefix(row["site_updates_per_s"].get<double>()),
             row["spread"].get<double>());
  fmt::print("  {:.0f} bytes a site: {:.1f} % of copy;  {:.0f} flops a site: {:.1f} % of peak\n",
             row["bytes_per_site"].get<double>(), percent(row["fraction_of_copy"]),
             row["flops_per_site"].get<double>(), percent(row["fraction_of_flops"]));
  fmt::print(
      "  limit {:.4g} ms, by {}: {:.1f} % of the limit (memory {:.1f} %, arithmetic {:.1f} %, "
      "special functions {:.1f} %, latency {:.1f} %, launches {:.1f} %)\n",
      1e3 * limit["seconds"].get<double>(), limit["name"].get<std::string>(),
      percent(limit["fraction"]), percent(limit["memory"]), percent(limit["arithmetic"]),
      percent(limit["special_functions"]), percent(limit["latency"]), percent(limit["launch"]));
  if (row.contains("expected_seconds_per_step"))
    fmt::print("  expected {:.4g} ms\n", 1e3 * row["expected_seconds_per_step"].get<double>());
  for (const auto& solve : row.value("solves", nlohmann::ordered_json::array()))
    fmt::print("  solve of {} (line {}): {:.1f} rounds{}\n", solve["name"].get<std::string>(),
               solve["line"].get<int>(), solve["rounds_per_step"].get<double>(),
               at_outputs ? "" : " a step");
  if (limit.contains("rounds"))
    fmt::print("  rounds of solves are {:.1f} % of the limit\n", percent(limit["rounds"]));
  if (row.contains("transforms"))
    fmt::print("  {}: {:.1f} % of the limit\n", transforms_text(row["transforms"]),
               percent(limit["transforms"]));
  if (limit["memory"].get<double>() > 1)
    fmt::print("  faster than the memory: the arrays stay in a cache\n");
  for (const auto& k : row["kernels"]) {
    fmt::print("  kernel {}: ", k["name"].get<std::string>());
    if (k["registers"].get<int>() >= 0)
      fmt::print("{} registers, {} bytes spilled, ", k["registers"].get<int>(),
                 k["spilled_bytes"].get<int>());
    if (k.contains("occupancy_of_registers"))
      fmt::print("{:.0f} % of the threads, ", percent(k["occupancy_of_registers"]));
    fmt::print("compiled in {:.0f} ms{}\n", 1e3 * k["compile_seconds"].get<double>(),
               k["from_cache"].get<bool>() ? " (from the cache)" : "");
  }
}

void print_table_head() {
  fmt::print(
      "\n{:<20} {:<18} {:>3} {:>10} {:>10} {:>7} {:<17} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>4} "
      "{:>5}\n",
      "model", "lattice", "", "ms a step", "ns a site", "of lim.", "limit", "mem", "arith", "spec",
      "chain", "launch", "expected", "regs", "spill");
}

void print_table_row(const nlohmann::ordered_json& row, const std::string& extent) {
  const auto& limit = row["limit"];
  const double seconds = row["seconds_per_step"].get<double>();
  int registers = -1, spilled = 0;
  for (const auto& k : row["kernels"]) {
    registers = std::max(registers, k["registers"].get<int>());
    spilled = std::max(spilled, k["spilled_bytes"].get<int>());
  }
  fmt::print(
      "{:<20} {:<18} {:>3} {:>10.4f} {:>10.5f} {:>5.1f} % {:<17} {:>6.1f} {:>6.1f} {:>6.1f} "
      "{:>6.1f} {:>6.1f}",
      row["model"].get<std::string>(), extent, row["precision"].get<std::string>(), 1e3 * seconds,
      row["ns_per_site"].get<double>(), percent(limit["fraction"]),
      limit["name"].get<std::string>(), percent(limit["memory"]), percent(limit["arithmetic"]),
      percent(limit["special_functions"]), percent(limit["latency"]), percent(limit["launch"]));
  const double expected = row.value("expected_seconds_per_step", 0.0);
  fmt::print(" {:>8}", expected > 0 ? fmt::format("{:.1f} %", 100 * expected / seconds) : "-");
  if (registers >= 0) fmt::print(" {:>4} {:>5}", registers, spilled);
  if (row.contains("timed")) fmt::print("  {}", row["timed"].get<std::string>());
  fmt::print("\n");
  std::fflush(stdout);
}

/// A row without numbers, and why there are none.
void not_timed(const Bench& bench, const std::string& name, const std::string& reason,
               nlohmann::ordered_json& row) {
  row["model"] = name;
  if (!bench.options.precision.empty()) row["precision"] = bench.options.precision;
  row["not_timed"] = reason;
  if (!bench.json) fmt::print("{:<{}} not timed: {}\n", name, bench.all ? 20 : 0, reason);
}

/// Whether the steps compute nothing at sites, as those of a model that only has outputs.
bool idle(const Bench& bench, const program::Program& program, const runtime::Units& units) {
  const runtime::StepLimits limits = runtime::step_limits(program, bench.ceilings, units);
  return limits.bytes == 0 && limits.flops == 0;
}

/// The program whose step is what its outputs launch, each of them once: solves with all of their
/// rounds, and sums. Transforms that the host makes between launches, and files, are left out.
program::Program of_outputs(program::Program program) {
  program.cycle.clear(), program.multi_step.clear(), program.together.clear();
  program.together_steps = 0;
  program.step.clear();
  for (const program::Output& output : program.outputs)
    for (const auto* list : {&output.before, &output.launches})
      program.step.insert(program.step.end(), list->begin(), list->end());
  return program;
}

/// A model's steps, or its kernels, as text or into `out`; the exit status.
int bench_model(const Bench& bench, const std::string& path, runtime::Device& device,
                nlohmann::ordered_json& out) {
  CompileOptions compile = compile_options(bench);
  std::optional<CompileWatch> compiling(std::in_place, terminal(stderr));
  Compilation c = compile_model(path, compile, target_of(device.info()));
  if (c.program && bench.all && compile.lattice.empty()) {
    compile.lattice = doubled_lattice(*c.program, sites_in_time(bench, *c.program, device));
    if (!compile.lattice.empty()) {
      Compilation larger = compile_model(path, compile, target_of(device.info()));
      // bodies, and lattices whose extents follow from a table or a file, are not enlarged
      if (larger.program) c = std::move(larger);
    }
  }
  if (bench.all) {  // the table has no room for warnings
    for (const dsl::Diagnostic& d : c.diagnostics.all())
      if (!c.program && d.severity == dsl::Severity::Error)
        throw UsageError(fmt::format("{}: {}", d.code, d.message));
  } else if (report(c)) {
    return refused(c, bench.json);
  }
  auto program = *c.program;
  if (bench.kernels) return bench_kernels(program, device, out, bench.json);
  const runtime::Units units = runtime::units_of(device.info());
  const bool at_outputs = idle(bench, program, units);
  if (at_outputs) program = of_outputs(std::move(program));
  if (at_outputs && idle(bench, program, units)) {
    not_timed(bench, program.model, "neither steps nor outputs of this model compute at the sites",
              out);
    return kOk;
  }
  program.outputs.clear();
  program.watch.clear();
  runtime::Session session(program, device);
  session.start();
  compiling.reset();  // no compilation during the timing
  const Timing t =
      time_steps(session, bench.options.steps,
                 std::max({std::int64_t{1}, program.multi_step_unit, program.together_steps}),
                 1e-3 * static_cast<double>(bench.milliseconds));
  auto row = row_of(bench, program, session, t);
  if (at_outputs) row["timed"] = "outputs";
  out.update(row);
  if (bench.json) return kOk;
  (bench.all ? print_table_row : print_row)(row, extent_text(program));
  return kOk;
}

/// Every shipped model in both precisions; what cannot be timed is a row with the reason.
void bench_all(Bench& bench, runtime::Device& device, nlohmann::ordered_json& out) {
  if (!bench.json) print_table_head();
  const bool both = bench.options.precision.empty();
  for (const std::string precision : {"f32", "f64"}) {
    if (!both && precision != bench.options.precision) continue;
    Bench one = bench;
    one.options.precision = precision;
    for (const auto& [name, path] : shipped_models()) {
      nlohmann::ordered_json row;
      std::string reason;
      try {
        bench_model(one, path, device, row);
      } catch (const std::exception& error) {
        reason = error.what();
      }
      if (!reason.empty()) {
        row = {};
        not_timed(one, name, reason, row);
      }
      out["runs"].push_back(std::move(row));
    }
  }
}

}  // namespace

int bench(const Words& words) {
  std::vector<std::string> models;
  std::string device_id = "auto";
  Bench bench;
  bool quick = false;
  CommandLine line("bench [MODEL...]",
                   "Times a model's steps against the limits that this device's measured ceilings "
                   "set.");
  line.arguments(models, 0, 1024);
  bench.options.declare(line);
  line.value("--device", "ID", device_id, "auto, native, opencl[:k], cuda[:k]")
      .number("--milliseconds", "MS", bench.milliseconds, 1, "of one repetition (default: 100)")
      .flag("--kernels", bench.kernels, "each kernel by itself, with those of start and outputs")
      .flag("--all", bench.all,
            "all shipped models in both precisions as a table, on lattices that fill the device")
      .flag("--quick", quick, "with --all: smaller lattices, shorter repetitions")
      .flag("--json", bench.json, "one JSON object; several models: a list `runs` in it");
  if (!line.parse(words)) return kOk;
  line.obeyed("--quick", !bench.all, "it is a choice of `--all`");
  if (bench.all && (!models.empty() || bench.kernels))
    throw UsageError("--all times every shipped model, as whole steps",
                     "leave the names and --kernels away, or --all");
  if (bench.options.steps == 0)
    throw UsageError("--steps 0 leaves nothing to time",
                     "--steps 100 for so many in a repetition; without it as many as fill "
                     "--milliseconds");
  std::vector<std::string> paths;
  for (const std::string& model : models) paths.push_back(find_model(model));
  for (const std::string& path : paths) {  // mistakes are told before the device is measured
    const Compilation derived = derive_model(path, compile_options(bench));
    if (derived.diagnostics.has_errors()) {
      report(derived);
      return refused(derived, bench.json);
    }
  }
  const auto device = runtime::open_device(device_id);
  const auto info = device->info();
  bench.sites = info.is_cpu ? std::int64_t{1} << 20 : std::int64_t{1} << 23;
  if (quick) bench.sites /= 8, bench.milliseconds = std::min<std::int64_t>(bench.milliseconds, 20);

  nlohmann::ordered_json out;
  out["device"] = info.name;
  bench.ceilings = runtime::measure_ceilings(*device);
  const runtime::Ceilings& c = bench.ceilings;
  out["ceilings"] = {{"copy_bytes_per_s", c.copy},
                     {"f32_flops", c.f32},
                     {"f64_flops", c.f64},
                     {"f32_special_per_s", c.special32},
                     {"f64_special_per_s", c.special64},
                     {"f32_latency_seconds", c.latency32},
                     {"f64_latency_seconds", c.latency64},
                     {"f32_special_latency_seconds", c.special_latency32},
                     {"f64_special_latency_seconds", c.special_latency64},
                     {"launch_seconds", c.launch}};
  out["ceilings"]["caches"] = nlohmann::ordered_json::array();
  for (const runtime::CacheRate& cache : c.caches)
    out["ceilings"]["caches"].push_back({{"bytes", cache.bytes}, {"copy_bytes_per_s", cache.rate}});
  if (!bench.json)
    fmt::print(
        "{} ({})\n  copy {:.1f} GB/s,{} multiply-adds {:.0f} GFLOP/s f32, {:.0f} GFLOP/s f64, "
        "special "
        "functions {:.1f} G/s f32, {:.1f} G/s f64, one after the other {:.2g} and {:.2g} ns f32, "
        "{:.2g} and {:.2g} ns f64, launch {:.2f} us\n",
        info.name, info.id, c.copy / 1e9, cache_text(c.caches), c.f32 / 1e9, c.f64 / 1e9,
        c.special32 / 1e9, c.special64 / 1e9, 1e9 * c.latency32, 1e9 * c.special_latency32,
        1e9 * c.latency64, 1e9 * c.special_latency64, 1e6 * c.launch);
  if (bench.all) bench_all(bench, *device, out);
  for (const std::string& path : paths) {
    nlohmann::ordered_json one;
    if (const int status = bench_model(bench, path, *device, paths.size() == 1 ? out : one))
      return status;
    if (paths.size() > 1) out["runs"].push_back(std::move(one));
  }
  if (bench.json) fmt::print("{}\n", out.dump(1));
  return kOk;
}

}  // namespace vphi::tools
