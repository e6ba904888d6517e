// Several runs on one page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/report/page.hpp"
#include "runtime/report/sections.hpp"

namespace vphi::report {
namespace {

std::string header_row(std::span<const Report> runs, const char* first) {
  std::string out = fmt::format("<tr><th>{}</th>", first);
  for (const Report& r : runs) out += "<th class=\"n\">" + escape(r.name) + "</th>";
  return out;
}

std::string table_of(const char* label, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n{}</table>"
      "</div>\n",
      label, rows);
}

/// The parameters and options in which the runs differ.
std::string differences(std::span<const Report> runs) {
  std::string rows;
  const auto add = [&](const std::string& name, const std::vector<std::string>& cells) {
    if (std::all_of(cells.begin(), cells.end(), [&](const auto& c) { return c == cells[0]; }))
      return;
    rows += "<tr><td>" + escape(name) + "</td>";
    for (const auto& cell : cells) rows += "<td class=\"n\">" + escape(cell) + "</td>";
    rows += "</tr>\n";
  };
  const auto each = [&](auto&& get) {
    std::vector<std::string> cells;
    for (const Report& r : runs) cells.push_back(get(r));
    return cells;
  };
  add("model", each([](const Report& r) { return r.model; }));
  std::vector<std::string> names;
  for (const Report& r : runs)
    for (const Parameter& p : r.parameters)
      if (std::find(names.begin(), names.end(), p.name) == names.end()) names.push_back(p.name);
  for (const std::string& name : names)
    add(name, each([&](const Report& r) -> std::string {
          for (const Parameter& p : r.parameters)
            if (p.name == name) return number_text(p.value, 12);
          return "–";
        }));
  add("lattice", each([](const Report& r) { return r.lattice; }));
  add("precision", each([](const Report& r) { return r.precision; }));
  add("seed", each([](const Report& r) { return std::to_string(r.seed); }));
  add("steps", each([](const Report& r) { return std::to_string(r.steps); }));
  add("device", each([](const Report& r) { return r.device; }));
  std::vector<std::string> versions;
  for (const Report& r : runs)
    for (const auto& [what, which] : r.versions)
      if (std::find(versions.begin(), versions.end(), what) == versions.end())
        versions.push_back(what);
  for (const std::string& what : versions)
    add(what, each([&](const Report& r) -> std::string {
          for (const auto& [name, which] : r.versions)
            if (name == what) return which;
          return "–";
        }));
  const auto texts = each([](const Report& r) { return r.text; });
  if (std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t != texts[0]; }))
    rows +=
        fmt::format("<tr><td colspan=\"{}\">The model texts differ.</td></tr>\n", runs.size() + 1);
  if (rows.empty()) return "<p>Parameters, lattice, seed, device and versions are the same.</p>\n";
  return table_of("Differences", header_row(runs, "") + "</tr>\n" + rows);
}

/// The last value of each series, and its difference from that of the first run.
std::string final_values(std::span<const Report> runs) {
  std::vector<std::string> names;
  for (const Report& r : runs)
    for (const Series& s : r.series)
      if (!s.of_instance() && std::find(names.begin(), names.end(), s.name) == names.end())
        names.push_back(s.name);
  if (names.empty()) return "";
  const bool two = runs.size() == 2;
  std::string rows = header_row(runs, "Series");
  rows += two ? "<th class=\"n\">relative difference</th></tr>\n"
              : "<th class=\"n\">largest relative difference</th></tr>\n";
  for (const std::string& name : names) {
    rows += "<tr><td><code>" + escape(name) + "</code></td>";
    double first = NAN, largest = 0;
    int found = 0;
    for (const Report& r : runs) {
      const Series* s = r.find(name);
      if (s == nullptr || s->y.empty()) {
        rows += "<td class=\"n\">–</td>";
        continue;
      }
      const double value = s->y.back();
      rows += "<td class=\"n\">" + number_text(value, 9) + "</td>";
      if (++found == 1) first = value;
      const double scale = std::max(std::abs(first), std::abs(value));
      if (!(value == first)) largest = std::max(largest, std::abs(value - first) / scale);
    }
    rows += fmt::format("<td class=\"n\">{}</td></tr>\n", found < 2      ? "–"
                                                          : largest == 0 ? "same"
                                                                         : number_text(largest, 3));
  }
  return table_of("Final values", rows);
}

std::string verdicts(std::span<const Report> runs) {
  std::map<std::string, std::vector<const Check*>> checks;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const Check& c : runs[i].checks) {
      auto& row = checks[c.text];
      row.resize(runs.size());
      row[i] = &c;
    }
  if (checks.empty()) return "";
  std::string rows = header_row(runs, "Promise") + "</tr>\n";
  for (auto& [text, row] : checks) {
    rows += "<tr><td><code>" + escape(text) + "</code></td>";
    row.resize(runs.size());
    for (const Check* c : row)
      rows += c == nullptr ? "<td class=\"n\">–</td>"
                           : fmt::format("<td class=\"n\"><span class=\"{}\">{}</span> {}</td>",
                                         c->ok ? "ok" : "failed", c->ok ? "holds" : "failed",
                                         number_text(c->value, 3));
    rows += "</tr>\n";
  }
  return table_of("Checks", rows);
}

}  // namespace

std::string comparison(std::span<const Report> runs, const Budget& budget) {
  std::vector<const Report*> all;
  for (const Report& r : runs) all.push_back(&r);
  Shell shell;
  shell.title = fmt::format("{}: {} runs", runs.front().model, runs.size());
  shell.header = fmt::format("<h1>{} runs of {}</h1>\n<p class=\"facts\">", runs.size(),
                             escape(runs.front().model));
  for (std::size_t i = 0; i < runs.size(); ++i)
    shell.header += (i > 0 ? " · <span>" : "<span>") + escape(runs[i].name) + "</span>";
  shell.header += "</p>\n";
  shell.data = page_data(all, budget);
  shell.sections = {{"differences", "What differs", differences(runs)},
                    {"final", "Final values", final_values(runs)},
                    {"checks", "Checks", verdicts(runs)},
                    series_section(shell.data, all),
                    swept_section(shell.data, all),
                    tables_section(shell.data, "spectrum"),
                    tables_section(shell.data, "histogram"),
                    tables_section(shell.data, "profile"),
                    pictures_section(shell.data),
                    model_section(runs.front())};
  return document(shell);
}

}  // namespace vphi::report
