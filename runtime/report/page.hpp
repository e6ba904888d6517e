// The report as one self-contained HTML file: styles, script and data are inside, and a content
// security policy forbids requests and other scripts.
//
// Pure functions. All text of a model (names, titles, documentation) is escaped; only members
// called `mathml` are markup. Templates: templates/report.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "runtime/report/data.hpp"
#include "runtime/report/report.hpp"

namespace vphi::report {

/// The state of a live page; see live.hpp.
struct LivePage {
  std::int64_t since = 0;
  std::string shape;  ///< changes when a series, table or picture is new
};

/// The page of one run.
std::string page(const Report& report, const Budget& budget = {}, const LivePage* live = nullptr);

/// Several runs: series in common plots, differing parameters, final values side by side.
std::string comparison(std::span<const Report> runs, const Budget& budget = {});

/// The text with &, <, >, " and ' as entities. Bytes that are not UTF-8, and control characters,
/// become U+FFFD.
std::string escape(std::string_view text);

/// The roofline diagram of the kernels of a step as an SVG element; empty where neither a bandwidth
/// nor a measured time is known.
std::string roofline(const Report& report);

}  // namespace vphi::report
