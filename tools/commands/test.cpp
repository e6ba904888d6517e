// vphi test: a model's own checks on every device, and the order of its integrator.
//
// A model that takes seconds is run unchanged and must meet all its expectations. Others are run
// small (at most 32 sites along each axis of three, 64 of two, 256 of one) and for few steps,
// unless the command line gives other sizes, and must meet the expectations that hold at any size
// (tools/trial.hpp). The order follows from |u(dt) - u(dt/2)| over |u(dt/2) - u(dt/4)| at one time,
// over the fields and the output scalars, both of which are known at whole steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/run/run.hpp"
#include "tools/compile_watch.hpp"
#include "tools/device_agreement.hpp"
#include "tools/model.hpp"
#include "tools/oracle/derivative_check.hpp"
#include "tools/oracle/finer_model.hpp"
#include "tools/reduced_model.hpp"
#include "tools/trial.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

constexpr std::int64_t kSteps = 64;       ///< of the checks of a model made small
constexpr std::int64_t kOrderSteps = 32;  ///< of the coarsest of the three runs
constexpr std::int64_t kFewer = 4;        ///< times shorter, where runs on two devices end apart

constexpr double kRounding = 1e-7;  ///< rows of drawn numbers are allowed more, which is shown

/// Root mean square of a difference of fields; of the last scalars where there are none.
double distance(const runtime::RunResult& a, const runtime::RunResult& b) {
  double square = 0;
  for (std::size_t v = 0; v < a.state.size(); ++v)
    for (std::size_t i = 0; i < a.state[v].size(); ++i)
      square += std::pow(a.state[v][i] - b.state[v][i], 2);
  return std::sqrt(square);
}

// ---- order --------------------------------------------------------------------------------------

struct OrderRow {
  std::string name;  ///< "fields" or an output scalar
  double coarse = 0, fine = 0;
  bool rounding = false;  ///< the differences are those of rounding and show no order
  bool recovery = false;  ///< those of what iterations of `recover` leave
  double order() const { return std::log2(coarse / fine); }
};

/// What iterations of `recover` may leave of their solutions.
double left_by_recovery(const std::string& path, const CompileOptions& options) {
  const Compilation model = derive_model(path, options);
  double left = 0;
  if (model.system && model.system->conservation)
    for (const auto& solved : model.system->conservation->solved)
      left = std::max(left, solved.left);
  return left;
}

std::vector<OrderRow> measure_order(const std::string& path, CompileOptions options,
                                    const Rounding& rounding) {
  options.precision = "f64";
  options.until.clear();
  const auto device = runtime::open_device("native");
  std::vector<runtime::RunResult> results;
  for (int parts : {1, 2, 4}) {
    const auto finer = finer_model(path, parts, true);
    if (!finer) return {};
    options.steps = kOrderSteps * parts;
    results.push_back(run_trial(*device, finer->path(), options, Extent::Shorter).result);
  }
  std::vector<OrderRow> rows;
  double size = 0;
  for (const auto& field : results[2].state)
    for (double v : field) size += v * v;
  OrderRow fields{"fields", distance(results[0], results[1]), distance(results[1], results[2])};
  // A step rounds every value once: after n steps sqrt(n) to n units in the last place.
  const double unit = std::numeric_limits<double>::epsilon() * std::sqrt(size);
  fields.rounding = !(fields.fine > 4 * kOrderSteps * unit);
  constexpr double kLeft = 4;  // stages and steps add up, each with a part of dt
  const double left = kLeft * left_by_recovery(path, options);
  fields.recovery = fields.fine <= left * std::sqrt(size);
  if (!results[2].state.empty()) rows.push_back(fields);
  for (const auto& [name, first] : results[0].scalars) {
    const auto second = results[1].scalar(name), third = results[2].scalar(name);
    if (!second || !third || !std::isfinite(first) || !std::isfinite(*third)) continue;
    OrderRow row{name, std::abs(first - *second), std::abs(*second - *third)};
    const double scale = std::max(std::abs(first), std::abs(*third));
    row.recovery = row.fine <= left * scale;
    row.rounding = !(row.fine > 16 * rounding_of(rounding, name, scale));
    rows.push_back(row);
  }
  return rows;
}

// ---- the report ---------------------------------------------------------------------------------

struct DeviceRow {
  std::string id;
  TrialRun run;
  ScalarDifference difference;       ///< from the first device
  std::int64_t compared_after = -1;  ///< steps, where runs that end apart were made shorter
  bool differs() const { return vphi::tools::differs(difference); }
};

struct TestReport {
  std::string model, lattice;
  Extent extent = Extent::Whole;
  std::vector<DeviceRow> devices;
  std::vector<OrderRow> order;
  std::vector<DerivativeRow> derivatives;
  std::vector<std::string> notes;  ///< of checks that could not be made
  bool ok() const {
    return std::all_of(devices.begin(), devices.end(),
                       [](const auto& d) { return d.run.kept() && !d.differs(); }) &&
           std::all_of(derivatives.begin(), derivatives.end(),
                       [](const auto& d) { return d.right() || !d.not_checked.empty(); });
  }
};

void print(const TestReport& report) {
  fmt::print("{}, {}\n", report.model,
             report.extent == Extent::Whole     ? "as it stands"
             : report.extent == Extent::Shorter ? "for a few steps"
             : report.lattice.empty()           ? "with fewer particles or instances"
                                                : fmt::format("on {} sites", report.lattice));
  for (const DeviceRow& d : report.devices) {
    fmt::print("  {:<10} {} steps on {}", d.id, d.run.result.steps, d.run.result.device);
    if (&d != &report.devices[0]) {
      const auto& [name, relative, in_rounding] = d.difference;
      if (name.empty())
        fmt::print(", every scalar as on {}", report.devices[0].id);
      else if (in_rounding <= kMostRounding)
        fmt::print(", as on {} to rounding (furthest: {}, relative {:.1e})", report.devices[0].id,
                   name, relative);
      else
        fmt::print(", {} from {}: {}, relative {:.1e}, {:.1e} times rounding",
                   d.differs() ? "DIFFERS" : "differs", report.devices[0].id, name, relative,
                   in_rounding);
    }
    fmt::print("\n");
    for (const Verdict& v : d.run.verdicts)
      fmt::print("    expect {}: {} ({:.3g})\n", v.text,
                 !v.judged ? "not judged, the run was made smaller"
                 : v.ok    ? "ok"
                           : "FAILED",
                 v.value);
  }
  for (const DerivativeRow& row : report.derivatives) {
    if (row.not_checked.empty())
      fmt::print("  {} against the text ({}), {} points: {:.1e}{} {}\n", row.variable, row.source,
                 row.points, row.deviation,
                 row.allowed > kRounding ? fmt::format(" of {:.1e} allowed", row.allowed) : "",
                 row.right() ? "ok" : "FAILED");
    else
      fmt::print("  {} against the text: not checked ({})\n", row.variable, row.not_checked);
  }
  if (!report.order.empty()) fmt::print("  order in dt, from dt, dt/2 and dt/4 (f64):\n");
  for (const OrderRow& row : report.order) {
    if (row.rounding)
      fmt::print("    {}: the same to rounding (differences {:.1e}, {:.1e})\n", row.name,
                 row.coarse, row.fine);
    else if (row.recovery)
      fmt::print(
          "    {}: the same to what `tol` of `recover` allows (differences {:.1e}, {:.1e})\n",
          row.name, row.coarse, row.fine);
    else
      fmt::print("    {}: {:.2f} (differences {:.1e}, {:.1e})\n", row.name, row.order(), row.coarse,
                 row.fine);
  }
  for (const std::string& note : report.notes) fmt::print("  note: {}\n", note);
}

void print_json(const TestReport& report) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  Json out = {{"model", report.model},
              {"lattice", report.lattice},
              {"whole", report.extent == Extent::Whole},
              {"ok", report.ok()}};
  out["devices"] = Json::array();
  for (const DeviceRow& d : report.devices) {
    Json row = {{"id", d.id}, {"device", d.run.result.device}, {"steps", d.run.result.steps}};
    row["expect"] = Json::array();
    for (const Verdict& v : d.run.verdicts)
      row["expect"].push_back({{"text", v.text},
                               {"ok", v.judged ? Json(v.ok) : Json(nullptr)},
                               {"value", number(v.value)}});
    row["furthest"] = {{"name", d.difference.name},
                       {"relative", number(d.difference.relative)},
                       {"in_rounding", number(d.difference.in_rounding)}};
    row["differs"] = d.differs();
    if (d.compared_after >= 0) row["compared_after"] = d.compared_after;
    out["devices"].push_back(std::move(row));
  }
  out["derivatives"] = Json::array();
  for (const DerivativeRow& row : report.derivatives) {
    Json json = {{"field", row.variable}, {"source", row.source}, {"points", row.points}};
    json["deviation"] = row.not_checked.empty() ? number(row.deviation) : Json(nullptr);
    if (!row.not_checked.empty()) json["not_checked"] = row.not_checked;
    out["derivatives"].push_back(std::move(json));
  }
  out["order"] = Json::array();
  for (const OrderRow& row : report.order)
    out["order"].push_back(
        {{"name", row.name},
         {"order", row.rounding || row.recovery ? Json(nullptr) : number(row.order())},
         {"rounding", row.rounding},
         {"recovery", row.recovery && !row.rounding},
         {"differences", {number(row.coarse), number(row.fine)}}});
  out["notes"] = report.notes;
  fmt::print("{}\n", out.dump(1));
}

/// Whether the model has as many sites, particles and instances either way.
bool same_size(const std::string& path, const CompileOptions& a, const CompileOptions& b) {
  const Compilation one = derive_model(path, a), other = derive_model(path, b);
  return one.system && other.system && one.system->lattice.extent == other.system->lattice.extent &&
         one.system->instances() == other.system->instances();
}

/// The first device's run in the other precision gives the rounding of each scalar. A model that
/// runs in f64 only leaves both empty, with a note.
Roundings measure_rounding(const std::string& path, CompileOptions options,
                           const physics::Numerics& numerics, TestReport& report) {
  const DeviceRow& first = report.devices[0];
  const bool f32 = numerics.real == physics::Precision::F32;
  options.precision = f32 ? "f64" : "f32";
  try {
    const auto device = runtime::open_device(first.id);
    const auto other = run_trial(*device, path, options, report.extent).result;
    return roundings(first.run.result, other, any_f32(numerics));
  } catch (const runtime::RunError& error) {
    if (f32) throw;
    report.notes.push_back(fmt::format("f32 does not carry this model: {}", error.what()));
  }
  return {};
}

/// Compares every device with the first. Trajectories separate exponentially in a chaotic model,
/// and in a Markov chain within some ten sweeps, once a proposal is accepted on one device only.
/// Where runs end apart shorter ones are compared, down to one step, which must agree.
void compare_devices(const std::string& path, const CompileOptions& small, const Rounding& rounding,
                     TestReport& report) {
  for (DeviceRow& d : report.devices) {
    d.difference = furthest(report.devices[0].run.result, d.run.result, rounding);
    if (!d.differs()) continue;
    CompileOptions fewer = small;
    if (fewer.steps < 0) {  // an end of the command line's own
      fewer.steps = kSteps;
      fewer.until.clear();
    }
    if (report.extent != Extent::Whole) fewer.steps /= kFewer;
    for (; d.differs() && fewer.steps > 0; fewer.steps /= kFewer) {
      const auto few = [&](const std::string& id) {
        return run_trial(*runtime::open_device(id), path, fewer, Extent::Shorter).result;
      };
      d.difference = furthest(few(report.devices[0].id), few(d.id), rounding);
      d.compared_after = fewer.steps;
    }
    if (!d.differs())
      report.notes.push_back(fmt::format(
          "{} and {} end apart, as chaos has it; they are compared after {} step{}",
          report.devices[0].id, d.id, d.compared_after, d.compared_after == 1 ? "" : "s"));
  }
}

}  // namespace

int test(const Words& words) {
  std::vector<std::string> models, devices;
  ModelOptions options;
  bool no_order = false, json = false;
  CommandLine line("test MODEL",
                   "Runs a model's own checks, small, on every device; its equations against "
                   "finite differences of the text; its order.");
  line.arguments(models, 1, 1);
  options.declare(line);
  line.list("--device", "ID", devices, "this device only; may be repeated")
      .flag("--no-order", no_order, "leave the order of the integrator out")
      .flag("--json", json, "one JSON object with the results on standard output");
  if (!line.parse(words)) return kOk;
  const std::string path = find_model(models[0]);
  const CompileWatch compiling(terminal(stderr));
  CompileOptions compile = options.compile_options();
  physics::Numerics numerics;
  bool noisy = false;
  {
    const Compilation first = compile_model(path, compile, default_target("native"));
    if (report(first)) return refused(first, json);
    numerics = first.system->numerics;
    noisy = first.system->noise.kind != physics::NoiseClass::None;
  }
  if (devices.empty())
    for (const auto& info : runtime::list_devices()) devices.push_back(info.id);
  CompileOptions small = made_small(path, compile);
  if (small.steps < 0 && small.until.empty()) small.steps = kSteps;

  TestReport report;
  report.model = models[0];
  for (const auto& id : devices) {
    const auto device = runtime::open_device(id);
    if (report.devices.empty()) {
      auto first = run_whole(*device, path, compile);
      report.extent = extent_of(compile);
      if (!first) {
        report.extent = same_size(path, compile, small) ? Extent::Shorter : Extent::Smaller;
        compile = small;
      }
      report.devices.push_back(
          {id, first ? std::move(*first) : run_trial(*device, path, compile, report.extent), {}});
    } else {
      report.devices.push_back({id, run_trial(*device, path, compile, report.extent), {}});
    }
  }
  report.lattice = compile.lattice;
  const Roundings rounding = measure_rounding(path, compile, numerics, report);
  compare_devices(path, small, rounding.own, report);
  report.derivatives = check_derivatives(path, options.compile_options());
  if (!no_order && noisy) {
    // Runs at dt, dt/2 and dt/4 draw other numbers: their differences are those of the paths.
    report.notes.push_back(
        "no order in dt: runs of a noisy model at other steps follow other paths; "
        "vphi run --error-check compares two steps on the same ones");
  } else if (!no_order) {
    try {
      report.order = measure_order(path, small, rounding.f64);
    } catch (const runtime::RunError& error) {
      report.notes.push_back(fmt::format("no order: {}", error.what()));
    }
  }
  if (json)
    print_json(report);
  else
    print(report);
  return report.ok() ? kOk : kExpectFailed;
}

}  // namespace vphi::tools
