#include "runtime/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "embedded/vphi_page.hpp"
#include "runtime/device/sha256.hpp"
#include "runtime/report/encode.hpp"
#include "runtime/report/record.hpp"
#include "runtime/report/sections.hpp"

namespace vphi::report {

using nlohmann::json;

namespace {

constexpr std::size_t kMostBytes = 4'900'000;  ///< of a page

std::string_view file(std::string_view name) {
  for (const auto& [known, text] : vphi_page::files())
    if (known == name) return text;
  throw std::logic_error(fmt::format("no template {}", name));
}

/// The script as one function, so that it leaves no names in the page.
std::string script() {
  std::string text = "'use strict';\n(() => {\n";
  for (const char* name : {"data.js", "scale.js", "colour.js", "chart.js", "curves.js", "maps.js",
                           "figures.js", "live.js", "main.js"})
    text += file(name);
  return text + "})();\n";
}

std::string policy(const std::string& code, bool live) {
  const auto digest = runtime::sha256(code);
  return fmt::format(
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; "
      "form-action 'none'{}",
      base64(std::as_bytes(std::span(digest))), live ? "; connect-src 'self'" : "");
}

std::string verdict(const Report& report) {
  std::string out;
  const auto badge = [&](const char* kind, const std::string& text) {
    out += fmt::format("<span class=\"verdict {}\">{}</span>\n", kind, text);
  };
  const auto failed = std::count_if(report.checks.begin(), report.checks.end(),
                                    [](const Check& c) { return !c.ok; });
  const std::size_t all = report.checks.size();
  if (all == 0)
    badge("plain", "no checks in the model");
  else if (failed == 0)
    badge("good", all == 1 ? "✓ its check holds" : fmt::format("✓ all {} checks hold", all));
  else
    badge("bad", fmt::format("✗ {} of {} checks failed", failed, all));
  if (report.interrupted) badge("bad", "interrupted: complete up to here");
  if (!report.warnings.empty())
    badge("plain", report.warnings.size() == 1
                       ? "1 warning"
                       : fmt::format("{} warnings", report.warnings.size()));
  return out;
}

std::string key_figures(const Report& report) {
  std::string out = "<dl class=\"key\">\n";
  const auto add = [&](const char* what, const std::string& value, const std::string& more = {}) {
    out += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", what, value,
                       more.empty() ? "" : " <small>" + more + "</small>");
  };
  const Speed& s = report.speed;
  double bytes = 0;
  for (const KernelCost& k : report.kernels) bytes += k.in_step ? k.bytes : 0;
  if (report.steps > 0) add(report.steps_name().c_str(), fmt::format("{}", report.steps));
  if (report.steps > 0 && report.unit.empty())  // the time of a chain is its count of steps
    add(escape(report.time_name).c_str(), number_text(report.time, 5), "at the end");
  if (s.seconds > 0)
    add(report.unit.empty() ? "Time in steps" : "Time of the chain", duration_text(s.seconds));
  if (s.site_updates_per_s > 0)
    add("Speed", prefixed(s.site_updates_per_s) + "sites/s",
        s.copy_bandwidth > 0
            ? fmt::format("{:.0f} % of copy", 100 * s.site_updates_per_s * bytes / s.copy_bandwidth)
            : "");
  if (s.device_bytes > 0) add("Memory", prefixed(s.device_bytes) + "B");
  return out + "</dl>\n";
}

std::string header_of(const Report& report) {
  std::string out = fmt::format(
      "<h1>{}</h1>\n<p class=\"facts\"><span>{}</span> · <span>{}</span> · <span>{}</span> · "
      "<span>{}</span></p>\n",
      escape(report.title.empty() ? report.model : report.title), escape(report.model),
      escape(report.lattice), escape(report.precision), escape(report.device));
  out += verdict(report);
  if (!report.documentation.empty())
    out += "<p class=\"lead\">" + escape(report.documentation) + "</p>\n";
  return out + key_figures(report);
}

std::string build(const Report& report, const Budget& budget, const LivePage* live) {
  const Report* const one[] = {&report};
  Shell shell;
  shell.title = report.title.empty() ? report.model : report.title;
  shell.header = header_of(report);
  shell.data = page_data(one, budget);
  if (live == nullptr) shell.data["record"] = record(report);
  if (live != nullptr) shell.data["live"] = {{"since", live->since}, {"shape", live->shape}};
  shell.live = live != nullptr;
  shell.sections = {numbers_section(shell.data, report),
                    series_section(shell.data, {&report}),
                    swept_section(shell.data, {&report}),
                    tables_section(shell.data, "spectrum"),
                    tables_section(shell.data, "histogram"),
                    tables_section(shell.data, "profile"),
                    pictures_section(shell.data),
                    chain_section(report),
                    checks_section(report),
                    model_section(report),
                    equations_section(report),
                    speed_section(report),
                    ranks_section(report),
                    notes_section(report),
                    citations_section(report),
                    reproduce_section(report)};
  return document(shell);
}

}  // namespace

std::string document(const Shell& shell) {
  const std::string code = script();
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"generator\" content=\"vphi {}\">\n<title>{}</title>\n<style>\n",
      policy(code, shell.live), VPHI_VERSION, escape(shell.title));
  out += file("page.css");
  out += "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n";
  if (shell.live)
    out +=
        "<div class=\"bar\" role=\"region\" aria-label=\"The running simulation\"><div><progress "
        "max=\"1\" value=\"0\" aria-label=\"Progress\"></progress><output>running</output><button "
        "type=\"button\" data-act=\"pause\">Pause</button><button type=\"button\" "
        "data-act=\"stop\">Stop</button></div></div>\n";
  out += "<header>\n<button type=\"button\" class=\"theme\">light / dark</button>\n";
  out += shell.header;
  out += "</header>\n<div class=\"layout\">\n<nav aria-label=\"Contents\"><ul>\n";
  for (const Section& s : shell.sections)
    if (!s.html.empty()) out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", s.id, s.title);
  out += "</ul></nav>\n<main id=\"main\">\n";
  for (const Section& s : shell.sections)
    if (!s.html.empty())
      out += fmt::format(
          "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}"
          "</section>\n",
          s.id, s.title, s.html);
  out += fmt::format(
      "</main>\n</div>\n<footer>Written by vphi {}. This page holds all it shows and asks the "
      "network for nothing.</footer>\n",
      VPHI_VERSION);
  out += "<script type=\"application/json\" id=\"data\">" + script_text(shell.data) + "</script>\n";
  return out + "<script>" + code + "</script>\n</body>\n</html>\n";
}

std::string page(const Report& report, const Budget& budget, const LivePage* live) {
  Budget smaller = budget;
  std::string text = build(report, smaller, live);
  // Text, formulas and the least number of points of every curve are not in the budget.
  for (int i = 0; i < 4 && text.size() > kMostBytes; ++i) {
    smaller.bytes /= 2;
    text = build(report, smaller, live);
  }
  return text;
}

}  // namespace vphi::report
