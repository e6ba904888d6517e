// vphi test: a model's own checks on every device, and the order of its integrator.
//
// The model is run small (at most 32 sites along each axis of three, 64 of two, 256 of one) and for
// few steps, unless the command line says otherwise. The order is that of |u(dt) - u(dt/2)| over
// |u(dt/2) - u(dt/4)| at one time, over the fields and the output scalars, both of which belong to
// whole steps.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "dsl/load.hpp"
#include "runtime/run/run.hpp"
#include "tools/model.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 64;       ///< of the checks
constexpr std::int64_t kOrderSteps = 32;  ///< of the coarsest of the three runs

/// A copy of the model whose time step is divided by `parts`; removed at the end.
class FinerModel {
 public:
  FinerModel(const std::string& path, int parts) {
    dsl::Diagnostics diagnostics;
    const auto model = dsl::load_model(path, diagnostics);
    dsl::ExprPtr dt;
    for (const auto& line : model.lines)
      if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "evolve")
        dt = dsl::option(line.clause, "dt");
    if (!dt) return;
    std::string text(model.source->text());
    const std::string finer =
        fmt::format("({})/{}", text.substr(dt->span.begin, dt->span.end - dt->span.begin), parts);
    text.replace(dt->span.begin, dt->span.end - dt->span.begin, finer);
    path_ = fs::temp_directory_path() / fmt::format("vphi_{}_{}.vphi", getpid(), parts);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~FinerModel() {
    std::error_code error;
    if (!path_.empty()) fs::remove(path_, error);
  }
  FinerModel(const FinerModel&) = delete;
  FinerModel& operator=(const FinerModel&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// "32^3" where the model is larger, else empty.
std::string small_lattice(const std::string& path, const CompileOptions& options) {
  const Compilation c = derive_model(path, options);
  if (!c.system || !options.lattice.empty()) return options.lattice;
  const auto& lattice = c.system->lattice;
  const std::int64_t most = lattice.dims >= 3 ? 32 : lattice.dims == 2 ? 64 : 256;
  std::vector<std::int64_t> extent(lattice.extent.begin(), lattice.extent.begin() + lattice.dims);
  for (auto& n : extent) n = std::min(n, most);
  return runtime::shape_text(extent);
}

runtime::RunResult run_on(runtime::Device& device, const std::string& path,
                          const CompileOptions& options) {
  const Compilation c = compile_model(path, options, target_of(device.info()));
  if (!c.program) {
    report(c);
    throw runtime::RunError("E0843", "the model does not compile for this device");
  }
  runtime::RunOptions how;
  how.keep_state = true;
  auto result = runtime::run(*c.program, device, how);
  // Momenta of a staggered scheme belong to half steps: they are not compared between steps.
  for (std::size_t v = c.program->state.size(); v-- > 0;)
    if (c.program->state[v].shown.ends_with('\''))
      result.state.erase(result.state.begin() + static_cast<std::ptrdiff_t>(v));
  return result;
}

/// Root mean square of a difference of fields; of the last scalars where there are none.
double distance(const runtime::RunResult& a, const runtime::RunResult& b) {
  double square = 0;
  for (std::size_t v = 0; v < a.state.size(); ++v)
    for (std::size_t i = 0; i < a.state[v].size(); ++i)
      square += std::pow(a.state[v][i] - b.state[v][i], 2);
  return std::sqrt(square);
}

/// The last scalar that differs most, relative to the larger of the two: its name and by how much.
std::pair<std::string, double> scalar_difference(const runtime::RunResult& a,
                                                 const runtime::RunResult& b) {
  std::pair<std::string, double> worst{"", 0};
  for (const auto& [name, value] : a.scalars) {
    const auto other = b.scalar(name);
    const double scale = std::max(std::abs(value), std::abs(other.value_or(value)));
    if (!other || scale == 0 || !std::isfinite(scale)) continue;
    const double difference = std::abs(value - *other) / scale;
    if (difference > worst.second) worst = {name, difference};
  }
  return worst;
}

void print_order(const std::string& path, CompileOptions options) {
  if (options.precision.empty()) options.precision = "f64";
  const auto device = runtime::open_device("native");
  std::vector<runtime::RunResult> results;
  for (int parts : {1, 2, 4}) {
    const FinerModel finer(path, parts);
    if (finer.path().empty()) return;
    options.steps = kOrderSteps * parts;
    results.push_back(run_on(*device, finer.path().string(), options));
  }
  const double coarse = distance(results[0], results[1]), fine = distance(results[1], results[2]);
  if (fine == 0 || !std::isfinite(coarse))
    fmt::print("  order: not measurable here (differences {:.1e}, {:.1e})\n", coarse, fine);
  else
    fmt::print("  order in dt of the fields: {:.2f} (differences {:.1e}, {:.1e})\n",
               std::log2(coarse / fine), coarse, fine);
  for (const auto& [name, first] : results[0].scalars) {
    const auto second = results[1].scalar(name), third = results[2].scalar(name);
    if (!second || !third || *second == *third) continue;
    fmt::print("    {}: {:.2f}\n", name,
               std::log2(std::abs((first - *second) / (*second - *third))));
  }
}

}  // namespace

int test(const Words& words) {
  std::vector<std::string> models, devices;
  ModelOptions options;
  bool no_order = false;
  CommandLine line("test MODEL",
                   "Runs a model's own checks, small, on every device, and its order.");
  line.arguments(models, 1, 1);
  options.declare(line);
  line.list("--device", "ID", devices, "this device only; may be repeated")
      .flag("--no-order", no_order, "leave the order of the integrator out");
  if (!line.parse(words)) return kOk;
  const std::string path = find_model(models[0]);
  CompileOptions compile = options.compile_options();
  {
    const Compilation first = compile_model(path, compile, default_target("native"));
    if (report(first)) return kUserError;
  }
  compile.lattice = small_lattice(path, compile);
  if (compile.steps < 0 && compile.until.empty()) compile.steps = kSteps;
  if (devices.empty())
    for (const auto& info : runtime::list_devices()) devices.push_back(info.id);

  int status = kOk;
  std::optional<runtime::RunResult> reference;
  fmt::print("{}, {}\n", models[0], compile.lattice);
  for (const auto& id : devices) {
    const auto device = runtime::open_device(id);
    const auto result = run_on(*device, path, compile);
    fmt::print("  {:<10} {} steps on {}", id, result.steps, result.device);
    if (reference) {
      const auto [name, difference] = scalar_difference(*reference, result);
      if (name.empty())
        fmt::print(", scalars as on {}", devices[0]);
      else
        fmt::print(", furthest from {}: {}, relative {:.1e}", devices[0], name, difference);
    }
    fmt::print("\n");
    for (const auto& e : result.expectations)
      fmt::print("    expect {}: {} ({:.3g})\n", e.text, e.ok ? "ok" : "FAILED", e.value);
    if (!result.all_expected()) status = kExpectFailed;
    if (!reference) reference = result;
  }
  if (!no_order) print_order(path, compile);
  return status;
}

}  // namespace vphi::tools
