#include "compiler/audit/audit.hpp"

#include <nlohmann/json.hpp>

#include "runtime/device/native/plugin_library.hpp"

namespace vphi::audit {
namespace {

FunctionFacts facts_of(const nlohmann::json& json) {
  FunctionFacts facts;
  facts.name = json.at("name").get<std::string>();
  facts.site = json.at("site").get<bool>();
  const std::pair<const char*, int*> numbers[] = {
      {"line", &facts.line},       {"ifs", &facts.ifs},         {"switches", &facts.switches},
      {"gotos", &facts.gotos},     {"loops", &facts.loops},     {"shortcuts", &facts.shortcuts},
      {"parts", &facts.parts},     {"selects", &facts.selects}, {"branches", &facts.branches},
      {"loads", &facts.loads},     {"stores", &facts.stores},   {"flops", &facts.flops},
      {"special", &facts.special}, {"choices", &facts.choices}, {"minmods", &facts.minmods},
  };
  for (const auto& [name, to] : numbers) *to = json.at(name).get<int>();
  return facts;
}

}  // namespace

const FunctionFacts* AuditResult::find(std::string_view name) const {
  for (const FunctionFacts& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

AuditResult audit(const std::string& source, program::Target target) {
  AuditResult result;
  const runtime::Plugin* plugin = runtime::Plugin::get(&result.reason);
  if (!plugin) {
    result.reason = "The emitted source was not audited: " + result.reason + ".";
    return result;
  }
  VphiText facts{}, log{};
  if (plugin->audit(source.data(), source.size(), name_of(target), &facts, &log) != 0) {
    result.log = plugin->take(log);
    result.reason = "The emitted source could not be read by the audit.";
    return result;
  }
  const auto json = nlohmann::json::parse(plugin->take(facts));
  for (const auto& function : json.at("functions")) result.functions.push_back(facts_of(function));
  for (const auto& text : json.at("violations"))
    result.violations.push_back(text.get<std::string>());
  result.available = true;
  return result;
}

}  // namespace vphi::audit
