// The parts common to both kinds of result files, and CSV.
#include "runtime/report/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "runtime/io/output_files.hpp"
#include "runtime/io/result_groups.hpp"
#include "runtime/report/read_hdf5.hpp"

namespace vphi::report {

namespace fs = std::filesystem;

namespace {

/// Fields of one line of RFC 4180; quotes around names with commas.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

double number_of(const std::string& text, const fs::path& file) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0')
    throw io::ResultsError(fmt::format("{}: `{}` is not a number", file.string(), text));
  return value;
}

/// step, t, then a column for each name.
void read_series(Report& report, const fs::path& file, std::ifstream& in) {
  std::string line;
  std::getline(in, line);
  const auto names = fields_of(line);
  std::vector<Series> series;
  for (std::size_t c = 2; c < names.size(); ++c) {
    series.emplace_back();
    series.back().name = names[c];
  }
  while (std::getline(in, line)) {
    const auto row = fields_of(line);
    if (row.size() != names.size()) break;  // the last line of a run that was cut off
    const double t = number_of(row[1], file);
    for (std::size_t c = 2; c < row.size(); ++c) {
      series[c - 2].x.push_back(t);
      series[c - 2].y.push_back(number_of(row[c], file));
    }
  }
  for (auto& s : series)
    if (report.find(s.name) == nullptr) report.series.push_back(std::move(s));
}

/// name, step, t, then the columns of the table.
void read_tables(Report& report, const fs::path& file, std::ifstream& in,
                 program::OutputShape shape) {
  constexpr std::size_t kFront = 3;
  std::string line;
  std::getline(in, line);
  std::vector<std::string> columns = fields_of(line);
  if (columns.size() < kFront + 2) return;
  columns.erase(columns.begin(), columns.begin() + kFront);
  std::map<std::string, Table> tables;
  std::vector<double> rows;  ///< of one name at one moment
  Table* table = nullptr;
  Frame at;
  const auto close = [&] {
    if (table == nullptr) return;
    table->frames.push_back(frame_of(columns, rows));
    table->frames.back().step = at.step, table->frames.back().time = at.time;
    rows.clear();
  };
  while (std::getline(in, line)) {
    const auto row = fields_of(line);
    if (row.size() != kFront + columns.size()) break;
    const auto step = static_cast<std::int64_t>(number_of(row[1], file));
    if (table == nullptr || table->name != row[0] || at.step != step) {
      close();
      table = &tables[row[0]];
      table->name = row[0], table->kind = table_kind(shape);
      std::tie(table->x_name, table->y_name) = axes_of(columns);
      at.step = step, at.time = number_of(row[2], file);
    }
    for (std::size_t c = kFront; c < row.size(); ++c) rows.push_back(number_of(row[c], file));
  }
  close();
  for (auto& [name, known] : tables) report.tables.push_back(std::move(known));
}

}  // namespace

void read_results(Report& report, const fs::path& file, Origin origin) {
  const std::string name = file.filename().string();
  if (name.ends_with(".h5") || name.ends_with(".hdf5")) {
    read_hdf5(report, file, origin);
  } else {
    std::ifstream in(file);
    if (!in) throw io::ResultsError(fmt::format("{} cannot be read", file.string()));
    if (const program::OutputRow* row = program::output_of_group(io::csv_group(name)))
      read_tables(report, file, in, row->shape);
    else
      read_series(report, file, in);
  }
}

bool is_result_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string group = io::csv_group(name);
  const bool table = group == io::kSeriesGroup || program::output_of_group(group) != nullptr;
  std::error_code error;
  return (table || name.ends_with(".h5")) && fs::exists(path, error);
}

std::vector<fs::path> result_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_result_file(it->path())) files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

void name_axes(Report& report, const program::Program& p) {
  for (Picture& picture : report.pictures)
    for (const auto& output : p.outputs)
      for (const auto& field : output.fields) {
        if (field.kind != program::FieldOutput::Kind::Slice || field.name != picture.name) continue;
        std::vector<int> axes;  // the fastest that is left comes first
        for (int axis = 0; axis < p.dims; ++axis)
          if (axis != field.axis) axes.push_back(axis);
        if (axes.empty()) continue;
        const auto half = [&](int axis) {
          return 0.5 * static_cast<double>(p.extent[axis]) * p.dx_physical;
        };
        picture.x_name = std::string(1, "xyzt"[axes[0]]);
        picture.x_low = -half(axes[0]), picture.x_high = half(axes[0]);
        if (axes.size() < 2) continue;
        picture.y_name = std::string(1, "xyzt"[axes[1]]);
        picture.y_low = -half(axes[1]), picture.y_high = half(axes[1]);
      }
}

}  // namespace vphi::report
