// The report as one HTML file that needs nothing else: styles, script and data are inside, and a
// content security policy forbids every request and every script but its own.
//
// Pure functions of their arguments. Whatever a model says (names, titles, documentation) is
// escaped; only members called `mathml` are taken as markup. Templates: templates/report.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "runtime/report/data.hpp"
#include "runtime/report/report.hpp"

namespace vphi::report {

/// Number and address of what a live page asks for; see live.hpp.
struct LivePage {
  std::int64_t since = 0;
  std::string shape;  ///< changes when a series, table or picture is new
};

/// The page of one run.
std::string page(const Report& report, const Budget& budget = {}, const LivePage* live = nullptr);

/// Several runs: series over each other, differing parameters, final values side by side.
std::string comparison(std::span<const Report> runs, const Budget& budget = {});

/// &, <, >, " and ' as entities; what is not UTF-8 becomes U+FFFD, control characters too.
std::string escape(std::string_view text);

/// The kernels of the step under the device's two roofs, as an SVG element; empty where neither a
/// bandwidth nor a measured time is known.
std::string roofline(const Report& report);

}  // namespace vphi::report
