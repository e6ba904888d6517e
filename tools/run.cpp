// vphi run: model text to results.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "runtime/device/ceilings.hpp"
#include "runtime/device/native.hpp"
#include "runtime/run/run.hpp"
#include "tools/model.hpp"
#include "tools/progress.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using Json = nlohmann::ordered_json;

// A signal handler can reach nothing else.
std::atomic<bool> interrupted{false};
extern "C" void interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);  // a second one ends the process at once
}

constexpr double kWorthMeasuring = 1.0;  ///< seconds of run that justify a measurement of 0.1 s

struct Wanted {
  ModelOptions model;
  std::string device = "auto", out;
  bool json = false, quiet = false;
};

/// JSON has no NaN or infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string to_json(const runtime::RunResult& r, double copy_bandwidth) {
  Json out;
  out["model"] = r.model;
  out["device"] = r.device;
  out["steps"] = r.steps;
  out["time"] = number(r.time);
  out["scalars"] = Json::object();
  for (const auto& [name, value] : r.scalars) out["scalars"][name] = number(value);
  out["series"] = Json::object();
  for (const auto& series : r.series) {
    Json points = Json::array();
    for (const auto& [t, value] : series.points)
      points.push_back(Json::array({number(t), number(value)}));
    out["series"][series.name] = std::move(points);
  }
  out["expect"] = Json::array();
  for (const auto& e : r.expectations)
    out["expect"].push_back({{"text", e.text}, {"ok", e.ok}, {"value", number(e.value)}});
  const auto& p = r.performance;
  const double share =
      copy_bandwidth > 0 ? p.site_updates_per_s * p.bytes_per_site / copy_bandwidth : NAN;
  out["performance"] = {{"seconds", p.seconds},
                        {"site_updates_per_s", number(p.site_updates_per_s)},
                        {"bytes_per_site", p.bytes_per_site},
                        {"fraction_of_copy", number(share)},
                        {"first_step_seconds", p.first_step_seconds},
                        {"device_bytes", p.device_bytes}};
  out["interrupted"] = r.interrupted;
  out["files"] = r.files;
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

void print_summary(const runtime::RunResult& r, double copy_bandwidth) {
  const auto& p = r.performance;
  fmt::print("{} on {}: {} steps to t = {:.6g} in {}, {}site updates/s", r.model, r.device, r.steps,
             r.time, duration_text(p.seconds), with_prefix(p.site_updates_per_s));
  if (copy_bandwidth > 0)
    fmt::print(" ({:.0f} % of copy)",
               100 * p.site_updates_per_s * p.bytes_per_site / copy_bandwidth);
  fmt::print("\n");
  if (r.interrupted)
    fmt::print("interrupted: the step was finished, results are complete up to here\n");
  for (const auto& [name, value] : r.scalars) fmt::print("  {} = {:.8g}\n", name, value);
  for (const auto& e : r.expectations)
    fmt::print("  expect {}: {} ({:.3g}{})\n", e.text, e.ok ? "ok" : "FAILED", e.value,
               e.ok ? "" : fmt::format(" at t = {:.5g}", e.time));
  for (const auto& note : r.notes) fmt::print("  note: {}\n", note);
  for (const auto& file : r.files) fmt::print("  -> {}\n", file);
}

/// Device and program, made side by side where the program does not depend on the device.
struct Prepared {
  std::unique_ptr<runtime::Device> device;
  Compilation compilation;
};

Prepared prepare(const Wanted& wanted, const std::string& path) {
  const CompileOptions options = wanted.model.compile_options();
  Prepared made;
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

}  // namespace

int run(const Words& words) {
  std::vector<std::string> models;
  Wanted wanted;
  CommandLine line("run MODEL",
                   "Compiles a model (a file, or a shipped model's name) and runs it.");
  line.arguments(models, 1, 1);
  wanted.model.declare(line);
  line.value("--device", "ID", wanted.device, "auto, native, opencl[:k], cuda[:k]")
      .value("--out", "DIR", wanted.out, "folder of the results (default: results/MODEL)")
      .flag("--json", wanted.json, "one JSON object with the results on standard output")
      .flag("--quiet", wanted.quiet, "no progress line and no summary");
  if (!line.parse(words)) return kOk;
  const std::string path = find_model(models[0]);

  Prepared made = prepare(wanted, path);
  const bool failed = made.compilation.diagnostics.has_errors();
  if (failed || !wanted.quiet) report(made.compilation);
  if (failed) return kUserError;
  if (!made.compilation.program)
    throw std::logic_error("the compiler gave no program and no reason");
  const auto& program = *made.compilation.program;
  runtime::Device& device = *made.device;

  const auto info = device.info();
  double copy = runtime::known_copy_bandwidth(info).value_or(0);
  ProgressLine progress(copy, terminal(stderr));
  runtime::RunOptions options;
  options.out =
      wanted.out.empty() ? (std::filesystem::path("results") / program.model).string() : wanted.out;
  options.interrupt = &interrupted;
  options.progress_interval = progress.interval();
  if (!wanted.quiet) options.progress = [&](const auto& now) { progress.show(now); };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  runtime::RunResult result;
  try {
    result = runtime::run(program, device, options);
  } catch (...) {
    progress.finish();
    throw;
  }
  progress.finish();

  if (copy == 0 && (wanted.json || result.performance.seconds > kWorthMeasuring))
    copy = runtime::copy_bandwidth(device);
  if (wanted.json)
    fmt::print("{}\n", to_json(result, copy));
  else if (!wanted.quiet)
    print_summary(result, copy);
  if (!result.all_expected()) {
    if (wanted.quiet)
      for (const auto& e : result.expectations)
        if (!e.ok)
          fmt::print(stderr, "expect failed: {} ({:.3g} at t = {:.5g})\n", e.text, e.value, e.time);
    return kExpectFailed;
  }
  return result.interrupted ? kInterrupted : kOk;
}

}  // namespace vphi::tools
