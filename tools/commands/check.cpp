// vphi check: everything that can be said without running.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "embed/ranks.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/run/session.hpp"
#include "tools/model.hpp"
#include "tools/running/rank_speed.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

std::string bytes_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6)
                     : fmt::format("{:.2f} GB", bytes / 1e9);
}

/// The error of a run that does not fit the memory of this machine; nothing where it fits.
std::optional<dsl::Diagnostic> beyond_memory(const Compilation& c) {
  const program::Program& p = *c.program;
  const auto machine = runtime::native_info();
  const auto need = static_cast<double>(runtime::memory_needed(p).peak);
  const std::size_t there = machine.memory_total;
  if (there == 0 || need <= static_cast<double>(there)) return std::nullopt;
  if (p.all_instances() > 1 && runtime::largest_batch(p, there) > 0)
    return std::nullopt;  // in parts
  dsl::Diagnostic d;
  d.code = "E0802";
  for (const char* keyword : {"lattice", "particles", "model"})
    if (const dsl::Clause* clause = c.resolved.clause(keyword); clause && d.span.empty())
      d.span = clause->keyword_span;
  d.message = fmt::format("the model needs {} of memory, and this machine has {}", bytes_text(need),
                          bytes_text(static_cast<double>(there)));
  const auto fits = runtime::largest_lattice(p, there);
  d.hint = fmt::format("{} fits: --lattice '{}'",
                       runtime::shape_text({fits.data(), static_cast<std::size_t>(p.dims)}),
                       runtime::shape_text({fits.data(), static_cast<std::size_t>(p.dims)}));
  if (!c.resolved.clause("lattice")) d.hint = "fewer bodies";
  return d;
}

}  // namespace

int check(const Words& words) {
  std::vector<std::string> models;
  ModelOptions options;
  embed::RanksWish wish(0);
  bool json = false, quiet = false;
  CommandLine line("check MODEL",
                   "Checks names, types, index ranges, the step's stability, memory.");
  line.arguments(models, 1, 1).flag("--json", json, "diagnostics as a JSON array");
  line.flag("--quiet", quiet, "errors and warnings only")
      .number_or_auto(
          "--ranks", wish.number, wish.fastest, 1,
          "whether so many ranks can share it, and what each holds; auto: how fast 1, 2, "
          "4, ... GPUs are by their model")
      .value("--cut", "AXIS=N", wish.cut,
             "the same for N ranks along this axis: z=4, or two: z=4,y=2");
  options.declare(line);
  if (!line.parse(words)) return kOk;
  const std::int64_t ranks = std::max<std::int64_t>(1, wish.ranks());

  std::string path;
  try {
    path = find_model(models[0]);
  } catch (const embed::Error& error) {
    if (!json) throw;
    const nlohmann::ordered_json entry = {
        {"code", "E0810"}, {"severity", "error"}, {"message", error.what()}, {"file", models[0]},
        {"line", 0},       {"column", 0},         {"hint", error.hint}};
    fmt::print("{}\n", nlohmann::ordered_json::array({entry}).dump());
    return kUserError;
  }
  Compilation c = embed::compile_for_ranks(
      path, options.compile_options(), default_target("native"), static_cast<int>(ranks), wish.cut);
  if (c.program)
    if (auto beyond = beyond_memory(c)) c.diagnostics.add(std::move(*beyond));
  if (json) {
    fmt::print("{}\n", dsl::render_json(c.diagnostics, c.resolved.sources()));
    return c.diagnostics.has_errors() ? kUserError : kOk;
  }
  if (report(c)) return kUserError;
  if (quiet) return kOk;
  const auto& p = *c.program;
  const auto need = runtime::memory_needed(p);
  fmt::print("{}: ok\n", p.model);
  const bool lattice = c.resolved.clause("lattice") != nullptr;
  const bool bodies = c.resolved.clause("particles") != nullptr;
  const auto whole = p.whole_extent();
  if (lattice) {
    fmt::print("  lattice  {}, dx = {:.6g}\n",
               runtime::shape_text({whole.data(), static_cast<std::size_t>(p.dims)}),
               p.dx_physical);
  } else if (bodies)
    fmt::print("  bodies   {}\n", whole[0]);
  if (p.all_instances() > 1) fmt::print("  sweep    {} instances\n", p.all_instances());
  if (const dsl::Clause* sample = c.resolved.clause("sample")) {
    const bool trajectories = dsl::option(*sample, "trajectories") != nullptr;
    if (p.steps >= 0)
      fmt::print("  chain    {} {}\n", p.steps, trajectories ? "trajectories" : "sweeps");
  } else {
    fmt::print("  step     dt = {:.6g}", p.dt_physical);
    if (lattice) fmt::print(", dt/dx = {:.4g} in program units", p.dt / p.dx);
    if (p.steps >= 0) fmt::print(", {} steps", p.steps);
    fmt::print("\n");
    if (endless(c))
      fmt::print("  end      none: it goes on until it is interrupted; write `until = t > ...`\n");
  }
  fmt::print("  memory   {} ({} bytes a {})\n", bytes_text(static_cast<double>(need.peak)),
             need.per_site, bodies && !lattice ? "body" : "site");
  if (ranks > 1)
    fmt::print("{}{}", embed::ranks_text(p, options.compile_options(), static_cast<int>(ranks)),
               rank_speed_text(path, options.compile_options(), static_cast<int>(ranks), wish.cut));
  if (wish.fastest) fmt::print("{}", rank_table_text(path, options.compile_options()));
  return kOk;
}

}  // namespace vphi::tools
