#include "tools/commands/audit_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compiler/audit/audit.hpp"
#include "tools/options.hpp"

namespace vphi::tools {
namespace {

void add(AuditRow& row, const audit::FunctionFacts& facts) {
  row.selects += facts.selects, row.loads += facts.loads, row.stores += facts.stores;
  row.flops += facts.flops, row.special += facts.special;
}

AuditRow row_of(const program::Kernel& kernel, program::Target target) {
  const audit::AuditResult result = audit::audit(kernel.source, target);
  if (!result.available)
    throw std::runtime_error(
        fmt::format("kernel {}: {}\n{}", kernel.name, result.reason, result.log));
  AuditRow row;
  row.kernel = kernel.name;
  row.branch_free = result.proved();
  row.violations = result.violations;
  for (const audit::FunctionFacts& facts : result.functions) {
    if (!facts.name.starts_with("vphi_site_")) continue;
    row.site = true;
    add(row, facts);
  }
  if (const auto* entry = result.find(kernel.entry); !row.site && entry != nullptr)
    add(row, *entry);
  return row;
}

}  // namespace

std::vector<AuditRow> audit_rows(const program::Program& program) {
  if (const audit::AuditResult probe = audit::audit("", program::Target::Native); !probe.available)
    throw UsageError(probe.reason,
                     "the audit reads the kernels with LLVM in the process; `vphi doctor` says how "
                     "to get it");
  std::vector<AuditRow> rows;
  for (const program::Kernel& kernel : program.kernels)
    rows.push_back(row_of(kernel, program.target));
  return rows;
}

std::string audit_text(const program::Program& program, const std::vector<AuditRow>& rows) {
  std::size_t width = 6;
  for (const AuditRow& row : rows) width = std::max(width, row.kernel.size());
  std::string text = fmt::format("{}: emitted text for {}, read by clang\n\n", program.model,
                                 name_of(program.target));
  text += fmt::format("{:<{}}  branch-free  selects  loads  stores    flops  special\n", "kernel",
                      width);
  bool scalars = false;
  for (const AuditRow& row : rows) {
    scalars = scalars || !row.site;
    text += fmt::format("{:<{}}  {:<11}  {:>7}  {:>5}  {:>6}  {:>7}  {:>7}{}\n", row.kernel, width,
                        row.branch_free ? "yes" : "no", row.selects, row.loads, row.stores,
                        row.flops, row.special, row.site ? "" : "  (scalars)");
    for (const std::string& violation : row.violations) text += fmt::format("  {}\n", violation);
  }
  const auto bad =
      std::ranges::count_if(rows, [](const AuditRow& row) { return !row.branch_free; });
  text += fmt::format("\n{} of {} kernels proved branch-free. Counts are those of a site",
                      rows.size() - static_cast<std::size_t>(bad), rows.size());
  text += scalars ? "; of kernels of scalars, of a launch.\n" : ".\n";
  return text;
}

std::string audit_json(const program::Program& program, const std::vector<AuditRow>& rows) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const AuditRow& row : rows)
    list.push_back({{"name", row.kernel},
                    {"branch_free", row.branch_free},
                    {"violations", row.violations},
                    {"site", row.site},
                    {"selects", row.selects},
                    {"loads", row.loads},
                    {"stores", row.stores},
                    {"flops", row.flops},
                    {"special", row.special}});
  const bool all = std::ranges::all_of(rows, [](const AuditRow& row) { return row.branch_free; });
  const Json out = {{"ok", all},
                    {"model", program.model},
                    {"target", name_of(program.target)},
                    {"kernels", std::move(list)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vphi::tools
