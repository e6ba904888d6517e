// vphi explain: the equations and kernels derived from a model, the page of an error, or an entry
// of the reference.
#include "compiler/explain.hpp"
#include "embed/ranks.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

#include "embedded/vphi_pages.hpp"
#include "runtime/device/ceilings.hpp"
#include "runtime/device/limits.hpp"
#include "runtime/run/session.hpp"
#include "tools/commands/audit_table.hpp"
#include "tools/commands/transform_limits.hpp"
#include "tools/device_kinds.hpp"
#include "tools/entry.hpp"
#include "tools/model.hpp"
#include "tools/reference.hpp"
#include "tools/running/rank_speed.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

bool is_code(const std::string& text) {
  return text.size() == 5 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin() + 1, text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

void print_json(const nlohmann::ordered_json& out) { fmt::print("{}\n", out.dump(1)); }

/// Pages are sections "## E0301 Title" of the embedded texts.
int print_page(std::string code, bool json) {
  code[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(code[0])));
  for (const auto& [name, text] : vphi_pages::files()) {
    const auto start = text.find("\n## " + code);
    if (start == std::string_view::npos) continue;
    const auto end = text.find("\n## ", start + 1);
    const auto page = text.substr(start + 4, end == std::string_view::npos ? end : end - start - 4);
    const std::string whole(page.substr(0, page.find_last_not_of('\n') + 1));
    if (json)
      print_json({{"ok", true}, {"code", code}, {"page", whole}});
    else
      fmt::print("{}\n", whole);
    return kOk;
  }
  throw UsageError(fmt::format("there is no diagnostic {}", code),
                   "codes are E0100 to E0999, W.... for warnings and N.... for notes");
}

int print_entries(const std::string& word, const std::vector<ReferenceEntry>& entries, bool json) {
  if (!json) {
    fmt::print("{}", entries_text(word, entries));
    return kOk;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ReferenceEntry& entry : entries)
    list.push_back({{"kind", entry.kind},
                    {"usage", entry.usage},
                    {"meaning", entry.meaning},
                    {"options", entry.options},
                    {"text", entry.text},
                    {"example", entry.example},
                    {"source", entry.source}});
  print_json({{"ok", true}, {"word", word}, {"entries", list}});
  return kOk;
}

runtime::StepLimits step_limits(const program::Program& p, runtime::Device& device) {
  return runtime::step_limits(p, runtime::known_ceilings(device), runtime::units_of(device.info()));
}

/// The least time of a step, before any run.
void print_limit(const program::Program& p, runtime::Device& device) {
  const runtime::StepLimits limit = step_limits(p, device);
  fmt::print(
      "Least time of a step on {}: {:.4g} ms, by {} (memory {:.4g}, arithmetic {:.4g}, special "
      "functions {:.4g}, latency {:.4g}, launches {:.4g} ms)\n",
      device.info().name, 1e3 * limit.seconds, limit.name, 1e3 * limit.sum.memory,
      1e3 * limit.sum.arithmetic, 1e3 * limit.sum.special, 1e3 * limit.sum.latency,
      1e3 * limit.sum.launch);
  if (limit.expected > 0) fmt::print("  expected: {:.4g} ms\n", 1e3 * limit.expected);
  if (limit.transforms.arrays > 0)
    fmt::print("  {}\n", transforms_text(transforms_json(limit.transforms)));
}

/// The equations and kernels, with the least time of a step where a device is named.
std::string with_limit(const std::string& json, const program::Program& p,
                       runtime::Device& device) {
  auto out = nlohmann::ordered_json::parse(json);
  const runtime::StepLimits limit = step_limits(p, device);
  out["least_time_of_a_step"] = {{"device", device.info().name},
                                 {"seconds", limit.seconds},
                                 {"name", limit.name},
                                 {"memory", limit.sum.memory},
                                 {"arithmetic", limit.sum.arithmetic},
                                 {"special_functions", limit.sum.special},
                                 {"latency", limit.sum.latency},
                                 {"launch", limit.sum.launch}};
  if (limit.expected > 0) out["least_time_of_a_step"]["expected_seconds"] = limit.expected;
  if (limit.transforms.arrays > 0)
    out["least_time_of_a_step"]["transforms"] = transforms_json(limit.transforms);
  return out.dump(2);
}

/// Registers and spills, which only the device's own compiler knows.
void print_registers(const program::Program& p, runtime::Device& device) {
  const auto handles = device.compile(p.kernels);
  fmt::print("\nOn {}\n", device.info().name);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const auto r = device.report(handles[i]);
    fmt::print("  {:<20}", p.kernels[i].name);
    if (r.registers >= 0)
      fmt::print(" {} registers, {} bytes spilled,", r.registers, std::max(0, r.spilled_bytes));
    fmt::print(" compiled in {:.0f} ms{}\n", 1e3 * r.compile_seconds,
               r.from_cache ? " (from the cache)" : "");
  }
}

/// Prints the audit. A kernel that cannot be proved is an error of the compiler, not of the model.
int print_audit(const program::Program& p, bool json) {
  const std::vector<AuditRow> rows = audit_rows(p);
  const std::string text = json ? audit_json(p, rows) : audit_text(p, rows);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const bool all = std::ranges::all_of(rows, [](const AuditRow& row) { return row.branch_free; });
  return all ? kOk : kInternalError;
}

}  // namespace

int explain(const Words& words) {
  std::vector<std::string> models;
  ModelOptions options;
  std::string format = "text", device_id, destination_kind = "native";
  bool json = false, whole_reference = false, audited = false;
  embed::RanksWish wish(0);
  CommandLine line("explain MODEL|CODE|WORD",
                   "Shows the derived equations and kernels of a model, an error's page, or what a "
                   "clause, an option, a function or an integrator means.");
  line.arguments(models, 0, 1)
      .flag("--reference", whole_reference, "the reference of the language, as Markdown")
      .choice("--format", {"text", "latex", "mathml", "json"}, format, "how equations are written")
      .flag("--json", json, "as --format json")
      .value("--device", "ID", device_id, "compile for this device and show registers and floors")
      .number("--ranks", "N", wish.number, 1,
              "the kernels as each of N ranks has them, and its memory")
      .value("--cut", "AXIS=N", wish.cut,
             "the same for N ranks along this axis: z=4, or two: z=4,y=2")
      .flag("--audit", audited,
            "reads the emitted text of each kernel with clang: proved branch-free, or where it is "
            "not, and its loads, stores, flops and special functions")
      .choice("--target", device_kinds(), destination_kind,
              "with --audit: the text for the usual device of a kind");
  options.declare(line);
  if (!line.parse(words)) return kOk;
  const std::int64_t ranks = std::max<std::int64_t>(1, wish.ranks());
  line.obeyed("--target", !audited, "it is the kind of device of `--audit`")
      .obeyed("--target", !device_id.empty(), "`--device` says which device it is")
      .obeyed("--format", audited, "`--audit` writes a table, and an object with --json");
  if (whole_reference) {
    const std::string text = reference();
    if (json) {
      print_json({{"ok", true}, {"reference", text}});
      return kOk;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  if (models.empty())
    throw UsageError("`vphi explain` needs one argument more",
                     "usage: vphi explain MODEL|CODE|WORD");
  if (is_code(models[0])) return print_page(models[0], json);
  if (json) format = "json";

  const auto found = try_model(models[0]);
  if (!found) {
    const auto entries = reference_entries(models[0]);
    if (!entries.empty()) return print_entries(models[0], entries, json);
  }
  const std::string path = found ? *found : find_model(models[0], reference_words());
  std::unique_ptr<runtime::Device> device;
  if (!device_id.empty()) device = runtime::open_device(device_id);
  const auto target = device ? target_of(device->info()) : default_target(destination_kind);
  const Compilation c = embed::compile_for_ranks(path, options.compile_options(), target,
                                                 static_cast<int>(ranks), wish.cut);
  const bool failed = report(c);
  if (failed && (json || audited || !c.system)) return refused(c, json);
  if (audited) return print_audit(*c.program, json);

  ExplainOptions how;
  if (device) how.bandwidth = runtime::copy_bandwidth(*device);
  const Explanation e = vphi::explain(c, how);
  std::string text = format == "latex"    ? to_latex(e)
                     : format == "mathml" ? to_mathml(e)
                     : format == "json"   ? to_json(e)
                                          : to_text(e);
  if (format == "json" && device && c.program) text = with_limit(text, *c.program, *device);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.ends_with('\n')) fmt::print("\n");
  if (format == "text" && c.program) {
    const auto need = runtime::memory_needed(*c.program);
    fmt::print("Memory: {:.1f} MB at most, {} bytes a site\n", static_cast<double>(need.peak) / 1e6,
               need.per_site);
    if (ranks > 1)
      fmt::print(
          "Ranks:\n{}{}",
          embed::ranks_text(*c.program, options.compile_options(), static_cast<int>(ranks)),
          rank_speed_text(path, options.compile_options(), static_cast<int>(ranks), wish.cut));
    if (device) {
      print_limit(*c.program, *device);
      print_registers(*c.program, *device);
    }
  }
  return failed ? kUserError : kOk;
}

}  // namespace vphi::tools
