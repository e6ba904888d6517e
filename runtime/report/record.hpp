// The part of a report that cannot be read back from the result files: formulas, checks, kernels,
// speed, versions, command. It is stored in the page's data as "record", so that `vphi report` can
// rewrite the page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/report/report.hpp"

namespace vphi::report {

/// The report without series, tables and the planes of pictures.
nlohmann::json record(const Report& report);
/// Reads the record in a page; nothing where the text is not a page of this form. Pictures have
/// names and axes but no planes.
std::optional<Report> report_of_page(const std::string& html);

}  // namespace vphi::report
