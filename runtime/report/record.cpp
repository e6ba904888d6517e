#include "runtime/report/record.hpp"

#include <cmath>

namespace vphi::report {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Statement, mathml, text, note, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, mathml, written, value, note, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Equation::Term, mathml, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Equation, mathml, text, terms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EquationGroup, title, note, equations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelCost, name, loads, stores, bytes, flops, special,
                                   registers, spilled_bytes, seconds, in_step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Speed, sites, seconds, first_step_seconds, site_updates_per_s,
                                   device_bytes, copy_bandwidth, flops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Citation, used_for, reference, link)

namespace {

/// JSON has no NaN or infinity: null stands for them.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number_of(const json& value) { return value.is_number() ? value.get<double>() : NAN; }

json checks_of(const std::vector<Check>& checks) {
  json list = json::array();
  for (const Check& c : checks) {
    json history = json::array();
    for (const auto& [t, value] : c.history) history.push_back({number(t), number(value)});
    list.push_back({{"text", c.text},
                    {"ok", c.ok},
                    {"value", number(c.value)},
                    {"time", number(c.time)},
                    {"bound", number(c.bound)},
                    {"history", history},
                    {"undecided", c.undecided}});
  }
  return list;
}

std::vector<Check> checks_from(const json& list) {
  std::vector<Check> checks;
  for (const json& c : list) {
    checks.push_back({c.at("text"),
                      c.at("ok"),
                      number_of(c.at("value")),
                      number_of(c.at("time")),
                      number_of(c.at("bound")),
                      {},
                      c.at("undecided")});
    for (const json& point : c.at("history"))
      checks.back().history.emplace_back(number_of(point.at(0)), number_of(point.at(1)));
  }
  return checks;
}

json chain_of(const std::vector<ChainRow>& rows) {
  json list = json::array();
  for (const ChainRow& c : rows)
    list.push_back({{"name", c.name},
                    {"mean", number(c.mean)},
                    {"error", number(c.error)},
                    {"tau", number(c.tau)},
                    {"tau_error", number(c.tau_error)},
                    {"rows", c.rows},
                    {"unknown", c.unknown}});
  return list;
}

std::vector<ChainRow> chain_from(const json& list) {
  std::vector<ChainRow> rows;
  for (const json& c : list)
    rows.push_back({c.at("name"), number_of(c.at("mean")), number_of(c.at("error")),
                    number_of(c.at("tau")), number_of(c.at("tau_error")), c.at("rows"),
                    c.at("unknown")});
  return rows;
}

/// The axes of pictures; their planes are read from the result files.
json axes_of(const std::vector<Picture>& pictures) {
  json list = json::array();
  for (const Picture& p : pictures)
    list.push_back({{"name", p.name},
                    {"slice", p.slice},
                    {"x_name", p.x_name},
                    {"y_name", p.y_name},
                    {"range", {p.x_low, p.x_high, p.y_low, p.y_high}}});
  return list;
}

std::vector<Picture> axes_from(const json& list) {
  std::vector<Picture> pictures;
  for (const json& p : list) {
    const json& range = p.at("range");
    pictures.push_back({p.at("name"),
                        p.at("slice"),
                        p.at("x_name"),
                        p.at("y_name"),
                        number_of(range.at(0)),
                        number_of(range.at(1)),
                        number_of(range.at(2)),
                        number_of(range.at(3)),
                        {}});
  }
  return pictures;
}

}  // namespace

json record(const Report& r) {
  return {{"model", r.model},
          {"title", r.title},
          {"documentation", r.documentation},
          {"text", r.text},
          {"statements", r.statements},
          {"parameters", r.parameters},
          {"equations", r.equations},
          {"time_name", r.time_name},
          {"unit", r.unit},
          {"length_unit", r.length_unit},
          {"checks", checks_of(r.checks)},
          {"chain", chain_of(r.chain)},
          {"acceptance", r.acceptance},
          {"axes", axes_of(r.pictures)},
          {"kernels", r.kernels},
          {"speed", r.speed},
          {"steps", r.steps},
          {"time", number(r.time)},
          {"interrupted", r.interrupted},
          {"device", r.device},
          {"lattice", r.lattice},
          {"precision", r.precision},
          {"seed", r.seed},
          {"notes", r.notes},
          {"warnings", r.warnings},
          {"citations", r.citations},
          {"command", r.command},
          {"versions", r.versions},
          {"files", r.files}};
}

std::optional<Report> report_of_page(const std::string& html) {
  static const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = html.find(open);
  if (begin == std::string::npos) return std::nullopt;
  const auto end = html.find("</script>", begin);
  if (end == std::string::npos) return std::nullopt;
  const auto first = html.begin() + static_cast<std::ptrdiff_t>(begin + open.size());
  const json data =
      json::parse(first, html.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  if (!data.is_object() || !data.contains("record")) return std::nullopt;
  try {
    const json& j = data["record"];
    Report r;
    const auto take = [&](const char* name, auto& to) { j.at(name).get_to(to); };
    take("model", r.model), take("title", r.title), take("documentation", r.documentation);
    take("text", r.text), take("statements", r.statements), take("parameters", r.parameters);
    take("equations", r.equations), take("time_name", r.time_name);
    take("unit", r.unit);
    take("length_unit", r.length_unit), take("kernels", r.kernels), take("speed", r.speed);
    take("steps", r.steps), take("interrupted", r.interrupted), take("device", r.device);
    take("lattice", r.lattice), take("precision", r.precision), take("seed", r.seed);
    take("notes", r.notes), take("warnings", r.warnings), take("citations", r.citations);
    take("command", r.command), take("versions", r.versions), take("files", r.files);
    r.time = number_of(j.at("time"));
    r.checks = checks_from(j.at("checks"));
    r.chain = chain_from(j.at("chain"));
    r.acceptance = j.value("acceptance", "");
    r.pictures = axes_from(j.at("axes"));
    return r;
  } catch (const json::exception&) {
    return std::nullopt;  // written by another version
  }
}

}  // namespace vphi::report
