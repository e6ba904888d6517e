// The sections of a page as HTML; empty where the report has no data for one. Internal to page.cpp
// and comparison.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/report/report.hpp"

namespace vphi::report {

struct Section {
  std::string id, title, html;
};

/// "1.2e-05" for tables; "12.3 s", "4 min 10 s"; "1.5 G".
std::string number_text(double value, int digits = 6);
std::string duration_text(double seconds);
std::string prefixed(double value);

/// Series of a single value, as a table. A live page has no such section, because series may grow.
Section numbers_section(const nlohmann::json& data, const Report& report);
/// Series against time, and those against something else.
Section series_section(const nlohmann::json& data, const std::vector<const Report*>& runs);
Section swept_section(const nlohmann::json& data, const std::vector<const Report*>& runs);
/// `kind`: "spectrum", "histogram", "profile".
Section tables_section(const nlohmann::json& data, const std::string& kind);
Section pictures_section(const nlohmann::json& data);
Section chain_section(const Report& report);
Section checks_section(const Report& report);
Section model_section(const Report& report);
Section equations_section(const Report& report);
Section speed_section(const Report& report);
/// How ranks have shared the instances.
Section ranks_section(const Report& report);
Section notes_section(const Report& report);
Section citations_section(const Report& report);
Section reproduce_section(const Report& report);

/// The document around the sections: head, header, contents, data, script.
struct Shell {
  std::string title, header;  ///< header: HTML
  std::vector<Section> sections;
  nlohmann::json data;
  bool live = false;
};
std::string document(const Shell& shell);

}  // namespace vphi::report
