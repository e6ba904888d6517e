#include "runtime/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/report/page.hpp"

namespace vphi::report {

using nlohmann::json;

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  std::string text = fmt::format("{:.{}g}", value, digits);
  const auto e = text.find('e');
  if (e != std::string::npos) {
    static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string power;
    const int exponent = std::stoi(text.substr(e + 1));
    for (const char c : std::to_string(exponent)) power += c == '-' ? "⁻" : raised[c - '0'];
    const std::string head = text.substr(0, e);
    text = (head == "1" ? "" : head == "-1" ? "-" : head + "·") + "10" + power;
  }
  if (text.starts_with('-')) text = "−" + text.substr(1);
  return text;
}

std::string duration_text(double s) {
  if (s < 1) return fmt::format("{:.3g} ms", 1e3 * s);
  if (s < 99.5) return fmt::format("{:.3g} s", s);
  const auto whole = static_cast<long>(s + 0.5);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string prefixed(double value) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  while (std::abs(value) >= 999.5 && i + 1 < std::size(prefixes)) value /= 1000, ++i;
  return fmt::format("{:.3g} {}", value, prefixes[i]);
}

namespace {

std::string figure(const char* kind, std::size_t index, const std::string& name,
                   const std::string& last, const char* classes) {
  return fmt::format(
      "<figure class=\"{}\" data-{}=\"{}\"><figcaption><h3>{}</h3><span class=\"last\">{}</span>"
      "</figcaption></figure>\n",
      classes, kind, index, escape(name), escape(last));
}

struct Plot {
  std::string name, html;
};

constexpr std::size_t kOpen = 6;  ///< plots of a section in view; the rest is folded

/// Two in a row; many are folded behind a line that names them.
std::string grid(const std::vector<Plot>& plots) {
  static constexpr const char* open = "<div class=\"figures two\">\n";
  const std::size_t shown = plots.size() > kOpen + 1 ? kOpen : plots.size();
  std::string html = open, names;
  for (std::size_t i = 0; i < shown; ++i) html += plots[i].html;
  html += "</div>\n";
  if (shown == plots.size()) return html;
  for (std::size_t i = shown; i < plots.size(); ++i)
    names += (names.empty() ? "" : ", ") + escape(plots[i].name);
  html += fmt::format("<details class=\"more\"><summary>{} more: {}</summary>\n{}",
                      plots.size() - shown, names, open);
  for (std::size_t i = shown; i < plots.size(); ++i) html += plots[i].html;
  return html + "</div>\n</details>\n";
}

std::string math(const std::string& row, bool block = true) {
  return fmt::format("<math xmlns=\"http://www.w3.org/1998/Math/MathML\"{}>{}</math>",
                     block ? " display=\"block\"" : "", row);
}

/// A formula on its own, which scrolls where it is wider than the page.
std::string formula(const std::string& row) {
  return "<div class=\"scroll\">" + math(row) + "</div>";
}

/// Comments, texts and the clause's word of one line of a model.
std::string highlighted(std::string_view line) {
  std::string out;
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos) return "";
  out += line.substr(0, at);
  std::size_t end = at;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
    ++end;
  const std::size_t next = line.find_first_not_of(" \t", end);
  // `param = 3` is a definition; a clause's word is followed by something else
  const bool clause = end > at && next != std::string_view::npos && next > end &&
                      std::string_view("=~#").find(line[next]) == std::string_view::npos;
  if (clause) {
    out += "<span class=\"k\">" + escape(line.substr(at, end - at)) + "</span>";
    at = end;
  }
  while (at < line.size()) {
    const std::size_t mark = line.find_first_of("#\"", at);
    if (mark == std::string_view::npos) break;
    out += escape(line.substr(at, mark - at));
    std::size_t stop = line.size();
    if (line[mark] == '"') {
      const std::size_t quote = line.find('"', mark + 1);
      stop = quote == std::string_view::npos ? line.size() : quote + 1;
    }
    out += line[mark] == '#' ? "<span class=\"c\">" : "<span class=\"s\">";
    out += escape(line.substr(mark, stop - mark)) + "</span>";
    at = stop;
  }
  if (at < line.size()) out += escape(line.substr(at));
  return out;
}

std::string source(const std::string& text) {
  std::string out = "<pre><code>";
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("<span id=\"line-{0}\"><span class=\"ln\">{0}</span>{1}</span>\n", number,
                       highlighted(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return out + "</code></pre>";
}

std::string row_of(const std::vector<std::string>& cells, const char* tag, std::size_t text_columns,
                   const char* attributes = "") {
  std::string out = fmt::format("<tr{}>", attributes);
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, i >= text_columns ? " class=\"n\"" : "", cells[i]);
  return out + "</tr>\n";
}

std::string scrolled(const char* label, const std::string& table) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n{}</table>"
      "</div>\n",
      label, table);
}

std::string unordered(const std::vector<std::string>& lines) {
  std::string out = "<ul>\n";
  for (const auto& line : lines) out += "<li>" + escape(line) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace

namespace {

/// A series of one value is a number, unless the run goes on.
bool is_number(const json& data, const json& series) {
  return series["single"] == true && !data.contains("live");
}

std::string last_value(const json& series, const std::vector<const Report*>& runs) {
  if (runs.size() > 1 || series["curves"].size() > 1) return "";
  const Series* s = runs[0]->find(series["name"]);
  return s == nullptr || s->y.empty() ? "" : number_text(s->y.back(), 8);
}

std::string times_text(std::size_t count) {
  return count == 1 ? "one time" : fmt::format("{} times", count);
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace

Section numbers_section(const json& data, const Report& report) {
  std::string rows;
  bool errors = false;
  for (const Series& s : report.series) errors = errors || (s.x.size() == 1 && !s.error.empty());
  for (const auto& series : data["series"]) {
    if (!is_number(data, series)) continue;
    const std::string along = series["along"];
    for (const Series& s : report.series) {
      if (s.name != series["name"].get<std::string>() ||
          (s.along == "t" ? report.time_name : s.along) != along)
        continue;
      std::vector<std::string> cells{"<code>" + escape(s.name) + "</code>", number_text(s.y[0], 8)};
      if (errors) cells.push_back(s.error.empty() ? "–" : number_text(s.error[0], 2));
      cells.push_back(escape(first_word(along)) + " = " + number_text(s.x[0], 6));
      rows += row_of(cells, "td", 1);
    }
  }
  if (rows.empty()) return {};
  std::vector<std::string> titles{"Quantity", "Value", "At"};
  if (errors) titles.insert(titles.begin() + 2, "Error");
  return {"numbers", "Single values", scrolled("Single values", row_of(titles, "th", 1) + rows)};
}

Section series_section(const json& data, const std::vector<const Report*>& runs) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < data["series"].size(); ++i) {
    const auto& series = data["series"][i];
    if (series["along"] == data["time"] && !is_number(data, series))
      plots.push_back(
          {series["name"], figure("series", i, series["name"], last_value(series, runs), "plot")});
  }
  if (plots.empty()) return {};
  std::string html =
      "<p class=\"note\">Drag across a plot to enlarge a part, double click to go back. With the "
      "keyboard: Tab to a plot, arrows for values, + and − to zoom, 0 to go back. Click a plot to "
      "zoom with the wheel.</p>\n";
  html += grid(plots);
  if (plots.size() > 1)  // those of a sweep have axes of their own
    html +=
        "<figure class=\"plot wide\" data-overlay=\"\"><figcaption><h3>Several in one plot</h3>"
        "<span class=\"last\">choose below</span></figcaption></figure>\n";
  return {"series", "Against " + escape(first_word(data["time"])), html};
}

Section swept_section(const json& data, const std::vector<const Report*>& runs) {
  std::vector<Plot> plots;
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < data["series"].size(); ++i) {
    const auto& series = data["series"][i];
    if (series["along"] == data["time"] || is_number(data, series)) continue;
    plots.push_back(
        {series["name"], figure("series", i, series["name"], last_value(series, runs), "plot")});
    const std::string along = series["along"];
    if (std::ranges::find(axes, along) == axes.end()) axes.push_back(along);
  }
  if (plots.empty()) return {};
  return {"swept", "Against " + (axes.size() == 1 ? escape(axes[0]) : "parameters"), grid(plots)};
}

Section tables_section(const json& data, const std::string& kind) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < data["tables"].size(); ++i) {
    const auto& table = data["tables"][i];
    if (table["kind"] == kind)
      plots.push_back({table["name"], figure("tables", i, table["name"],
                                             times_text(table["frames"].size()), "plot")});
  }
  if (plots.empty()) return {};
  if (kind == "spectrum") return {"spectra", "Spectra", grid(plots)};
  if (kind == "histogram") return {"distributions", "Distributions", grid(plots)};
  return {"profiles", "Profiles and correlators", grid(plots)};
}

Section pictures_section(const json& data) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < data["pictures"].size(); ++i) {
    const auto& picture = data["pictures"][i];
    plots.push_back({picture["name"], figure("pictures", i, picture["name"],
                                             times_text(picture["frames"].size()), "picture")});
  }
  if (plots.empty()) return {};
  return {"pictures", "Pictures", grid(plots)};
}

Section checks_section(const Report& report) {
  if (report.checks.empty()) return {};
  std::string rows = row_of(
      {"Promise", "Verdict", "Value", "at " + escape(first_word(report.time_name))}, "th", 2);
  for (std::size_t i = 0; i < report.checks.size(); ++i) {
    const Check& c = report.checks[i];
    rows += row_of(
        {"<code>" + escape(c.text) + "</code>",
         fmt::format("<span data-verdict=\"{}\" class=\"{}\">{}</span>", i, c.ok ? "ok" : "failed",
                     c.ok                  ? "holds"
                     : c.undecided.empty() ? "failed"
                                           : "not decided: " + escape(c.undecided)),
         number_text(c.value, 4), number_text(c.time, 5)},
        "td", 2);
  }
  std::string html = scrolled("Checks", rows);
  html +=
      "<p class=\"note\">Each <code>expect</code> of the model, judged at every output: the worst "
      "value of a drift or a conserved quantity; of a condition the value where it failed first, "
      "else the last.</p>\n";
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < report.checks.size(); ++i)
    if (const Check& c = report.checks[i]; c.history.size() > 1)
      plots.push_back({c.text, figure("checks", i, c.text, "", "plot")});
  if (!plots.empty()) html += grid(plots);
  return {"checks", "Checks", html};
}

Section model_section(const Report& report) {
  std::string html;
  if (!report.statements.empty()) {
    html += "<div class=\"formulas\">\n";
    for (const Statement& s : report.statements) {
      html += "<div class=\"formula\">";
      html += s.mathml.empty() ? "<code>" + escape(s.text) + "</code>" : formula(s.mathml);
      if (s.line > 0)
        html +=
            fmt::format("<a class=\"at\" href=\"#line-{0}\" title=\"line {0}\">{0}</a>", s.line);
      if (!s.note.empty()) html += "<span class=\"why\">" + escape(s.note) + "</span>";
      html += "</div>\n";
    }
    html += "</div>\n";
  }
  if (!report.parameters.empty()) {
    bool changed = false;
    std::string rows = row_of({"Parameter", "Written", "Value", ""}, "th", 2);
    for (const Parameter& p : report.parameters) {
      changed = changed || p.changed;
      rows +=
          row_of({p.mathml.empty() ? "<code>" + escape(p.name) + "</code>" : math(p.mathml, false),
                  p.written.empty() ? "" : "<code>" + escape(p.written) + "</code>",
                  number_text(p.value, 10), escape(p.note)},
                 "td", 2, p.changed ? " class=\"changed\"" : "");
    }
    html += "<h3>Parameters</h3>\n" + scrolled("Parameters", rows);
    if (changed) html += "<p class=\"note\">* given on the command line</p>\n";
  }
  if (!report.text.empty())
    html +=
        "<details open><summary>The model text</summary>\n" + source(report.text) + "</details>\n";
  if (html.empty()) return {};
  return {"model", "The model", html};
}

Section equations_section(const Report& report) {
  if (report.equations.empty()) return {};
  std::string html;
  for (const EquationGroup& group : report.equations) {
    html += "<h3>" + escape(group.title) + "</h3>\n";
    if (!group.note.empty()) html += "<p class=\"note\">" + escape(group.note) + "</p>\n";
    html += "<div class=\"formulas\">\n";
    for (const Equation& e : group.equations) {
      html += "<div class=\"formula\">";
      html += e.mathml.empty() ? "<code>" + escape(e.text) + "</code>" : formula(e.mathml);
      if (!e.terms.empty()) {
        html +=
            "<details class=\"why\"><summary>where the terms come from</summary><table "
            "class=\"terms\">";
        for (const auto& term : e.terms)
          html += fmt::format("<tr><td>{}</td><td><code>{}</code></td></tr>",
                              math(term.mathml, false), escape(term.line));
        html += "</table></details>";
      }
      html += "</div>\n";
    }
    html += "</div>\n";
  }
  return {"equations", "Derived equations", html};
}

Section speed_section(const Report& report) {
  const Speed& s = report.speed;
  if (report.kernels.empty() && s.seconds <= 0) return {};
  std::string html = roofline(report);
  if (!report.kernels.empty()) {
    std::string rows = row_of({"Kernel", "loads", "stores", "bytes", "flops", "special",
                               "registers", "floor, ns", "measured, ns", "of the floor's speed"},
                              "th", 1);
    for (const KernelCost& k : report.kernels) {
      const double floor = s.copy_bandwidth > 0 ? 1e9 * k.bytes / s.copy_bandwidth : 0;
      const double measured = s.sites > 0 ? 1e9 * k.seconds / s.sites : 0;
      const double share = measured > 0 ? std::min(1.0, floor / measured) : 0;
      std::string registers = k.registers < 0 ? "–" : std::to_string(k.registers);
      if (k.spilled_bytes > 0) registers += fmt::format(" ({} B spilled)", k.spilled_bytes);
      std::vector<std::string> cells{
          escape(k.name) + (k.in_step ? "" : " <small>(not in the step)</small>"),
          std::to_string(k.loads),
          std::to_string(k.stores),
          std::to_string(k.bytes),
          std::to_string(k.flops),
          std::to_string(k.special),
          registers,
          floor > 0 ? fmt::format("{:.3g}", floor) : "–",
          measured > 0 ? fmt::format("{:.3g}", measured) : "–",
          "–"};
      if (share > 0)
        cells.back() = fmt::format(
            "<span class=\"meter\" aria-hidden=\"true\"><svg width=\"94\" height=\"7\"><rect "
            "width=\"{:.1f}\" height=\"7\" fill=\"var(--c0)\"/></svg></span> {:.0f} %",
            94 * share, 100 * share);
      rows += row_of(cells, "td", 1);
    }
    html += scrolled("Kernels", rows);
    html +=
        "<p class=\"note\">Counts are for one site and step, made by the compiler from the kernels "
        "themselves. The floor is the time that the least memory traffic takes at the measured "
        "copy bandwidth of this device";
    html += s.copy_bandwidth > 0 ? fmt::format(" ({}B/s)", prefixed(s.copy_bandwidth)) : "";
    html += "; lattices that fit a cache can be faster.</p>\n";
  }
  return {"speed", "Kernels and speed", html};
}

Section ranks_section(const Report& report) {
  if (report.ranks.empty()) return {};
  double most = 0;
  for (const RankRow& rank : report.ranks) most = std::max(most, rank.busy);
  const bool planes = report.ranks[0].planes > 0;
  std::string rows = row_of({"Rank", "Device", "Machine", planes ? "Planes or sites" : "Instances",
                             "Memory", "In steps", "Waited"},
                            "th", 3);
  for (std::size_t r = 0; r < report.ranks.size(); ++r) {
    const RankRow& rank = report.ranks[r];
    rows += row_of({std::to_string(r), escape(rank.device), escape(rank.host),
                    std::to_string(planes ? rank.planes : rank.instances),
                    prefixed(rank.memory) + "B", duration_text(rank.busy),
                    most > 0 ? fmt::format("{:.1f} %", 100 * (1 - rank.busy / most)) : "–"},
                   "td", 3);
  }
  return {
      "ranks", "Ranks",
      scrolled("Ranks", rows) + "<p class=\"note\">" +
          (planes
               ? "The lattice is cut: a rank sends and receives some of its planes or sites, and "
                 "its part of sums, in each step" +
                     (report.ranks[0].planes_go.empty() ? "" : ", " + report.ranks[0].planes_go) +
                     ". "
               : "The instances of the sweep are shared: a rank sends and receives nothing "
                 "during its steps. ") +
          "Waited: by how much its steps took less than those of the "
          "slowest rank." +
          (report.ranks[0].modelled.empty() ? "" : " " + report.ranks[0].modelled) + "</p>\n"};
}

Section chain_section(const Report& report) {
  if (report.chain.empty()) return {};
  std::string rows = row_of({"Average", "Mean", "Error", "τ_int", "Rows"}, "th", 1);
  for (const ChainRow& c : report.chain) {
    const bool known = c.unknown.empty();
    rows += row_of(
        {escape(c.name), escape(number_text(c.mean, 8)),
         escape(known ? number_text(c.error, 2) : "not known: " + c.unknown),
         escape(known ? fmt::format("{} ± {}", number_text(c.tau, 3), number_text(c.tau_error, 1))
                      : "–"),
         escape(std::to_string(c.rows))},
        "td", 1);
  }
  std::string html = scrolled("Averages of the chain", rows);
  if (!report.acceptance.empty())
    html += fmt::format("<p>Accepted: {}.</p>\n", escape(report.acceptance));
  html +=
      "<p class=\"note\">One standard error, by the Gamma method with automatic windowing (Wolff, "
      "Comput. Phys. Commun. 156 (2004) 143); τ_int, the integrated autocorrelation time, counts "
      "rows of the output, and is ½ for independent values. Where averages of long blocks, or the "
      "means of several chains, scatter by more, theirs is the error.</p>\n";
  return {"chain", "Averages", html};
}

Section notes_section(const Report& report) {
  std::string html;
  if (!report.warnings.empty()) html += "<h3>Warnings</h3>\n" + unordered(report.warnings);
  if (!report.notes.empty()) {
    if (!html.empty()) html += "<h3>Choices made</h3>\n";
    html += unordered(report.notes);
  }
  if (html.empty()) return {};
  return {"notes", "Notes and warnings", html};
}

Section citations_section(const Report& report) {
  if (report.citations.empty()) return {};
  std::string rows = row_of({"For", "Reference"}, "th", 2);
  for (const Citation& c : report.citations) {
    const bool web = c.link.starts_with("https://");
    rows +=
        row_of({escape(c.used_for), web ? fmt::format("<a href=\"{}\" rel=\"noreferrer\">{}</a>",
                                                      escape(c.link), escape(c.reference))
                                        : escape(c.reference)},
               "td", 2);
  }
  return {"cite", "What to cite", scrolled("What to cite", rows)};
}

namespace {

/// "conf_" and ".ildg" of "conf_00000010.ildg": one of a row of numbered files.
std::pair<std::string, std::string> around_number(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string::npos) return {file, ""};
  std::size_t first = dot;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(file[first - 1])) != 0) --first;
  return first < dot ? std::pair(file.substr(0, first), file.substr(dot)) : std::pair(file, "");
}

/// Numbered files of one name in one line.
std::vector<std::string> in_rows(const std::vector<std::string>& files) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < files.size();) {
    std::size_t end = i + 1;
    while (end < files.size() && around_number(files[end]) == around_number(files[i])) ++end;
    if (end - i < 3) {
      lines.push_back(files[i++]);
      continue;
    }
    lines.push_back(fmt::format("{} … {} ({} files)", files[i], files[end - 1], end - i));
    i = end;
  }
  return lines;
}

}  // namespace

Section reproduce_section(const Report& report) {
  std::string html;
  if (!report.command.empty())
    html += "<p>This command gives these numbers again:</p>\n<pre><code>" + escape(report.command) +
            "</code></pre>\n";
  std::string rows;
  const auto add = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) rows += row_of({escape(what), escape(value)}, "td", 2);
  };
  add("Device", report.device);
  add("Lattice", report.lattice);
  add("Precision", report.precision);
  add("Seed", std::to_string(report.seed));
  for (const auto& [what, which] : report.versions) add(what, which);
  for (const auto& file : in_rows(report.files)) add("Results", file);
  html += scrolled("Versions and hardware", rows);
  return {"reproduce", "Versions, hardware, how to reproduce", html};
}

}  // namespace vphi::report
