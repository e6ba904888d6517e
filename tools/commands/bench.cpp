// vphi bench: a model's steps, or the bare device, against the device's measured ceilings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/device/ceilings.hpp"
#include "runtime/run/launch_time.hpp"
#include "runtime/run/run.hpp"
#include "tools/compile_watch.hpp"
#include "tools/model.hpp"
#include "tools/progress.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using program::Precision;

struct Timing {
  std::int64_t steps = 0;
  double seconds_per_step = 0;  ///< best of the repetitions
  double spread = 0;            ///< median over best
};

/// A condition that ends no run and that only the run can tell: kernels still ask for it.
constexpr const char* kNever = "t*t > 1e300";

/// Repetitions of so many steps as fill `seconds`, outputs left out. `unit`: steps that kernels
/// take together; a repetition is a multiple of it.
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
  timed(2 * unit);
  if (steps <= 0)
    for (steps = 2 * unit; steps < (1 << 20) && timed(steps) < seconds;) steps *= 2;
  steps = (steps + unit - 1) / unit * unit;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(timed(steps) / static_cast<double>(steps));
  std::sort(times.begin(), times.end());
  return {steps, times.front(), times[times.size() / 2] / times.front()};
}

/// Launches of the program, the first of each kernel: of the steps, the start and the outputs.
std::vector<program::Launch> one_of_each(const program::Program& program) {
  std::vector<program::Launch> result;
  const auto add = [&](const std::vector<program::Launch>& list) {
    for (program::Launch launch : program.with_iterations(list)) {
      if (std::ranges::any_of(result, [&](const auto& l) { return l.kernel == launch.kernel; }))
        continue;
      launch.solve = -1;  // its iterations are launches of their own here
      result.push_back(launch);
    }
  };
  add(program.step);
  for (const auto& step : program.cycle) add(step);
  add(program.prologue);
  for (const auto& output : program.outputs) add(output.launches);
  return result;
}

/// Each kernel by itself: what it is made of, and the time of one launch.
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

/// What all models of a call share.
struct Bench {
  ModelOptions options;
  std::int64_t milliseconds = 100;  ///< of a repetition
  bool json = false, kernels = false;
  double copy = 0, f32 = 0, f64 = 0;  ///< the device's ceilings
};

/// A model's steps, or its kernels, as text or into `out`; the exit status.
int bench_model(const Bench& bench, const std::string& path, runtime::Device& device,
                nlohmann::ordered_json& out) {
  CompileOptions compile = bench.options.compile_options();
  compile.steps =
      -1;  // --steps counts those of a repetition here; the model's end must not stop it
  // Instances whose run has ended stand still or copy what was there: that is not to be timed.
  if (compile.until.empty()) compile.until = kNever;
  std::optional<CompileWatch> compiling(std::in_place, terminal(stderr));
  Compilation c = compile_model(path, compile, target_of(device.info()));
  if (report(c)) return refused(c, bench.json);
  auto program = *c.program;
  if (bench.kernels) return bench_kernels(program, device, out, bench.json);
  program.outputs.clear();
  program.watch.clear();
  runtime::Session session(program, device);
  session.start();
  compiling.reset();  // nothing beside what is timed
  const Timing t =
      time_steps(session, bench.options.steps, std::max<std::int64_t>(1, program.multi_step_unit),
                 1e-3 * static_cast<double>(bench.milliseconds));

  const double sites = static_cast<double>(program.sites() * program.instances);
  double flops = 0;
  // many steps a launch, where there are such
  const auto& launches = program.multi_step.empty() ? program.step : program.multi_step;
  for (const auto& launch : launches) flops += program.kernels[launch.kernel].flops;
  const double bytes = runtime::bytes_per_site(program);
  const bool wide = std::any_of(program.buffers.begin(), program.buffers.end(), [](const auto& b) {
    return b.state && b.precision == Precision::F64;
  });
  const double peak = wide ? bench.f64 : bench.f32;
  const double rate = sites / t.seconds_per_step;
  out["model"] = program.model;
  out["lattice"] = std::vector(program.extent.begin(), program.extent.begin() + program.dims);
  out["instances"] = program.instances;
  out["precision"] = wide ? "f64" : "f32";
  out["steps"] = t.steps;
  out["seconds_per_step"] = t.seconds_per_step;
  out["ns_per_site"] = 1e9 / rate;
  out["site_updates_per_s"] = rate;
  out["bytes_per_site"] = bytes;
  out["fraction_of_copy"] = rate * bytes / bench.copy;
  out["fraction_of_flops"] = peak > 0 ? rate * flops / peak : 0;
  out["device_bytes"] = session.bytes_peak();
  out["kernels"] = nlohmann::ordered_json::array();
  for (const auto& launch : launches) {
    const auto r = session.report(launch.kernel);
    out["kernels"].push_back({{"name", program.kernels[launch.kernel].name},
                              {"registers", r.registers},
                              {"spilled_bytes", r.spilled_bytes},
                              {"compile_seconds", r.compile_seconds}});
  }
  if (bench.json) return kOk;
  fmt::print("{} {} {}\n", program.model,
             runtime::shape_text({program.extent.data(), static_cast<std::size_t>(program.dims)}),
             wide ? "f64" : "f32");
  fmt::print("  {} a step, {:.4g} ns a site, {}site updates/s (median {:.2f} of the best)\n",
             fmt::format("{:.4g} ms", 1e3 * t.seconds_per_step), 1e9 / rate, with_prefix(rate),
             t.spread);
  fmt::print("  {:.0f} bytes a site: {:.1f} % of copy;  {:.0f} flops a site: {:.1f} % of peak\n",
             bytes, 100 * rate * bytes / bench.copy, flops,
             peak > 0 ? 100 * rate * flops / peak : 0);
  for (const auto& launch : launches) {
    const auto r = session.report(launch.kernel);
    fmt::print("  kernel {}: ", program.kernels[launch.kernel].name);
    if (r.registers >= 0)
      fmt::print("{} registers, {} bytes spilled, ", r.registers, r.spilled_bytes);
    fmt::print("compiled in {:.0f} ms{}\n", 1e3 * r.compile_seconds,
               r.from_cache ? " (from the cache)" : "");
  }
  return kOk;
}

}  // namespace

int bench(const Words& words) {
  std::vector<std::string> models;
  std::string device_id = "auto";
  Bench bench;
  CommandLine line("bench [MODEL...]",
                   "Times a model's steps against this device's measured ceilings.");
  line.arguments(models, 0, 1024);
  bench.options.declare(line);
  line.value("--device", "ID", device_id, "auto, native, opencl[:k], cuda[:k]")
      .number("--milliseconds", "MS", bench.milliseconds, 1, "of one repetition (default: 100)")
      .flag("--kernels", bench.kernels, "each kernel by itself, with those of start and outputs")
      .flag("--json", bench.json, "one JSON object; several models: a list `runs` in it");
  if (!line.parse(words)) return kOk;
  std::vector<std::string> paths;
  for (const std::string& model : models) paths.push_back(find_model(model));
  const auto device = runtime::open_device(device_id);
  const auto info = device->info();

  nlohmann::ordered_json out;
  out["device"] = info.name;
  bench.copy = runtime::measure_copy_bandwidth(*device);
  bench.f32 = runtime::measure_flops(*device, Precision::F32);
  bench.f64 = runtime::measure_flops(*device, Precision::F64);
  out["ceilings"] = {
      {"copy_bytes_per_s", bench.copy}, {"f32_flops", bench.f32}, {"f64_flops", bench.f64}};
  if (!bench.json)
    fmt::print(
        "{} ({})\n  copy {:.1f} GB/s, multiply-adds {:.0f} GFLOP/s f32, {:.0f} GFLOP/s f64\n",
        info.name, info.id, bench.copy / 1e9, bench.f32 / 1e9, bench.f64 / 1e9);
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
