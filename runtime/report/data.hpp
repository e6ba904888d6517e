// The numbers of one or several runs as the page's script wants them: JSON, within a budget.
//
// Curves are thinned and pictures shrunk until the whole stays below `Budget::bytes`; what is left
// out is left out evenly, first and last frames stay. Equal arrays are stored once. Several runs
// share a plot for each series of the same name; tables and pictures stay those of each run.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "runtime/report/report.hpp"

namespace vphi::report {

struct Budget {
  std::size_t bytes = 3'600'000;  ///< of base64 text in all
};

/// {"runs", "time", "arrays", "series", "tables", "pictures", "checks"}; figures are numbered as
/// they stand there. `runs` must not be empty.
nlohmann::json page_data(std::span<const Report* const> runs, const Budget& budget = {});

/// `{"x", "y", "o"}` numbers of a table's frame by themselves, for the live page.
nlohmann::json frame_data(const Frame& frame);

/// Labels of a table's axes.
std::pair<std::string, std::string> axis_names(const Table& table, const Report& report);

/// Text that can stand in a <script type="application/json">.
std::string script_text(const nlohmann::json& data);

}  // namespace vphi::report
