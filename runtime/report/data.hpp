// The numbers of one or several runs as JSON for the page's script, within a limit of size.
//
// Curves are thinned and pictures shrunk until the total is below `Budget::bytes`. Frames are
// omitted evenly; the first and the last are kept. Equal arrays are stored once. Several runs share
// a plot for each series of the same name; each run has its own tables and pictures.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "runtime/report/report.hpp"

namespace vphi::report {

struct Budget {
  std::size_t bytes = 3'600'000;  ///< of base64 text in total
};

/// {"runs", "time", "arrays", "series", "tables", "pictures", "checks"}; figures are numbered in
/// this order. `runs` must not be empty.
nlohmann::json page_data(std::span<const Report* const> runs, const Budget& budget = {});

/// The numbers of one frame of a table, `{"x", "y", "o"}`, for the live page.
nlohmann::json frame_data(const Frame& frame);

/// Labels of a table's axes.
std::pair<std::string, std::string> axis_names(const Table& table, const Report& report);

/// Text that can stand in a <script type="application/json">.
std::string script_text(const nlohmann::json& data);

}  // namespace vphi::report
