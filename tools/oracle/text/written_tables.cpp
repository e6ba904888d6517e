// Tables and files of numbers in the text, with the pieces between entries computed one by one.
// Text files are read here as well; HDF5 files are read by the compiler's reader.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/physics/tables/table_file.hpp"
#include "dsl/syntax/parse.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::TableData;

namespace {

using Line = std::vector<long double>;

/// Slopes of Fritsch and Carlson: the mean of the two beside an entry, 0 at an extreme, and no more
/// than keeps the cubic monotone (alpha^2 + beta^2 <= 9).
Line slopes(const std::vector<double>& x, const Line& y, bool loops) {
  const std::size_t n = x.size();
  Line rise, m(n);
  for (std::size_t i = 0; i + 1 < n; ++i)
    rise.push_back((y[i + 1] - y[i]) / (static_cast<long double>(x[i + 1]) - x[i]));
  const auto mean = [](long double a, long double b) { return a * b > 0 ? (a + b) / 2 : 0; };
  for (std::size_t i = 1; i + 1 < n; ++i) m[i] = mean(rise[i - 1], rise[i]);
  m.front() = loops ? mean(rise.back(), rise.front()) : rise.front();
  m.back() = loops ? m.front() : rise.back();
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const long double size = std::hypot(m[i], m[i + 1]), most = 3 * std::fabs(rise[i]);
    if (size <= most) continue;
    m[i] *= most / size;
    m[i + 1] *= most / size;
  }
  if (loops)
    m.front() = m.back() = std::fabs(m.front()) < std::fabs(m.back()) ? m.front() : m.back();
  return m;
}

/// The piece of an axis and the share of it that lies before x.
std::pair<std::size_t, long double> piece(const std::vector<double>& axis, long double x) {
  std::size_t i = 0;
  while (i + 2 < axis.size() && x >= axis[i + 1]) ++i;
  return {i, (x - axis[i]) / (static_cast<long double>(axis[i + 1]) - axis[i])};
}

/// Hermite's cubics: 1 or slope 1 at the near end (0) or the far one (1), 0 elsewhere.
long double with_value(long double f, std::size_t end) {
  const long double g = end == 0 ? f : 1 - f;
  return (1 + 2 * g) * (1 - g) * (1 - g);
}
long double with_slope(long double f, std::size_t end) {
  return end == 0 ? f * (1 - f) * (1 - f) : -f * f * (1 - f);
}

long double of_one(const TableData& table, long double x, int order, bool loops) {
  const auto& axis = table.axes[0];
  const Line y(table.values.begin(), table.values.end());
  const auto [i, f] = piece(axis, x);
  if (order == 1) return y[i] + f * (y[i + 1] - y[i]);
  const Line m = slopes(axis, y, loops);
  const long double h = static_cast<long double>(axis[i + 1]) - axis[i];
  long double sum = 0;
  for (const std::size_t end : {0u, 1u})
    sum += with_value(f, end) * y[i + end] + h * with_slope(f, end) * m[i + end];
  return sum;
}

long double of_two(const TableData& table, long double x, long double y, int order) {
  const auto& rows = table.axes[0];
  const auto& columns = table.axes[1];
  const auto [i, f] = piece(rows, x);
  const auto [j, g] = piece(columns, y);
  const auto entry = [&](std::size_t r, std::size_t c) -> long double {
    return table.values[r * columns.size() + c];
  };
  if (order == 1)
    return (1 - f) * ((1 - g) * entry(i, j) + g * entry(i, j + 1)) +
           f * ((1 - g) * entry(i + 1, j) + g * entry(i + 1, j + 1));
  const long double hx = static_cast<long double>(rows[i + 1]) - rows[i],
                    hy = static_cast<long double>(columns[j + 1]) - columns[j];
  long double sum = 0;
  for (const std::size_t a : {0u, 1u}) {
    for (const std::size_t b : {0u, 1u}) {
      Line along_x, along_y;
      for (std::size_t r = 0; r < rows.size(); ++r) along_x.push_back(entry(r, j + b));
      for (std::size_t c = 0; c < columns.size(); ++c) along_y.push_back(entry(i + a, c));
      sum += with_value(f, a) * with_value(g, b) * entry(i + a, j + b) +
             hx * with_slope(f, a) * with_value(g, b) * slopes(rows, along_x, false)[i + a] +
             hy * with_value(f, a) * with_slope(g, b) * slopes(columns, along_y, false)[j + b];
    }
  }
  return sum;
}

bool inside(const TableData& table, const Line& x) {
  for (std::size_t a = 0; a < x.size(); ++a)
    if (x[a] < table.axes[a].front() || x[a] > table.axes[a].back()) return false;
  return true;
}

// ---- files --------------------------------------------------------------------------------------

struct FileName {
  std::string path, part;  ///< of "name.txt:3" the number of the column
  bool text = true;        ///< HDF5 is read by its library (table_hdf5.cpp)
};

FileName file_name(const std::string& folder, const std::string& name) {
  const auto colon = name.rfind(':');
  FileName result{name.substr(0, colon), {}};
  if (colon != std::string::npos) result.part = name.substr(colon + 1);
  if (std::filesystem::path path(result.path); path.is_relative() && !folder.empty())
    result.path = (std::filesystem::path(folder) / path).string();
  result.text = !physics::is_hdf5(result.path);
  return result;
}

/// Rows of numbers, separated by blanks, commas or semicolons; a comment begins with `#`.
std::vector<std::vector<double>> rows_of_text(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    std::ranges::replace_if(
        line, [](char c) { return c == ',' || c == ';'; }, ' ');
    std::istringstream words(line);
    std::vector<double> row;
    for (std::string word; words >> word;) row.push_back(std::strtod(word.c_str(), nullptr));
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

TableData table_of_file(const std::string& folder, const std::string& name, std::size_t arguments) {
  const FileName file = file_name(folder, name);
  if (!file.text) return physics::read_table(folder, name, arguments);
  const std::size_t column = file.part.empty() ? arguments : std::stoul(file.part) - 1;
  std::map<std::vector<double>, double> entries;  // in the order of the arguments
  std::vector<std::set<double>> axes(arguments);
  for (const std::vector<double>& row : rows_of_text(file.path)) {
    const std::vector<double> at(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(arguments));
    for (std::size_t a = 0; a < arguments; ++a) axes[a].insert(at[a]);
    entries[at] = row.at(column);
  }
  TableData data;
  for (const auto& axis : axes) data.axes.emplace_back(axis.begin(), axis.end());
  for (const auto& [at, value] : entries) data.values.push_back(value);
  return data;
}

physics::Matrix matrix_of_file(const std::string& folder, const std::string& name) {
  const FileName file = file_name(folder, name);
  if (!file.text) return physics::read_file(folder, name);
  physics::Matrix m;
  for (const std::vector<double>& row : rows_of_text(file.path)) {
    m.columns = row.size();
    m.values.insert(m.values.end(), row.begin(), row.end());
  }
  return m;
}

}  // namespace

std::string Written::folder() const {
  const auto& source = resolved_.model.source;
  return source ? std::filesystem::path(source->name()).parent_path().string() : std::string();
}

Numbers Written::table(const dsl::Expr& e, const Scope& scope, const Place* place) {
  std::size_t files = 1;
  while (files < e.args.size() && e.args[files]->kind == ExprKind::String) ++files;
  Line x;
  for (std::size_t i = files; i < e.args.size(); ++i) x.push_back(real(*e.args[i], scope, place));
  int order = x.size() == 1 ? 3 : 1;
  const dsl::Expr* outside = nullptr;
  bool loops = false;
  long double sign = 1;
  for (const dsl::NamedArgument& option : e.named) {
    const dsl::Expr& v = *option.value;
    const bool name = v.kind == ExprKind::Name;
    if (option.name == "order") order = static_cast<int>(real(v, scope, place));
    if (option.name == "outside") {
      loops = name && v.text == "periodic";
      if (!loops && !(name && v.text == "clamp")) outside = &v;
    }
    if (option.name != "even" && option.name != "odd") continue;
    std::vector<const dsl::Expr*> named{&v};
    if (v.kind == ExprKind::List) {
      named.clear();
      for (const auto& one : v.args) named.push_back(one.get());
    }
    for (const dsl::Expr* one : named) {
      for (std::size_t a = 0; a < x.size(); ++a) {
        if (dsl::to_text(*e.args[files + a]) != dsl::to_text(*one)) continue;
        if (option.name == "odd") sign *= x[a] > 0 ? 1 : x[a] < 0 ? -1 : 0;
        x[a] = std::fabs(x[a]);
      }
    }
  }
  for (std::size_t i = 0; i < files; ++i) {
    const std::string& name = e.args[i]->text;
    auto known = tables_.find(name);
    if (known == tables_.end()) {
      auto data = std::make_shared<TableData>(table_of_file(folder(), name, x.size()));
      known = tables_.emplace(name, std::move(data)).first;
    }
    const TableData& data = *known->second;
    const bool last = i + 1 == files;
    if (!inside(data, x)) {
      if (!last) continue;
      if (outside) return at(*outside, scope, place);
      for (std::size_t a = 0; a < x.size(); ++a) {
        const long double first = data.axes[a].front(), end = data.axes[a].back();
        x[a] = loops ? x[a] - (end - first) * std::floor((x[a] - first) / (end - first))
                     : std::clamp(x[a], first, end);
      }
    }
    return Numbers::of(sign * (x.size() == 1 ? of_one(data, x[0], order, loops && last)
                                             : of_two(data, x[0], x[1], order)));
  }
  throw NotCovered{e.span, "this table"};
}

/// Row i and column j of a file; of a line of numbers the i-th.
Numbers Written::file_entry(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const std::string& name = e.args[0]->args.at(0)->text;
  auto known = files_.find(name);
  if (known == files_.end()) {
    auto data = std::make_shared<physics::Matrix>(matrix_of_file(folder(), name));
    known = files_.emplace(name, std::move(data)).first;
  }
  const physics::Matrix& m = *known->second;
  const auto i = static_cast<std::size_t>(real(*e.args.at(1), scope, place));
  if (e.args.size() == 2) return Numbers::of(m.values.at(i));
  const auto j = static_cast<std::size_t>(real(*e.args.at(2), scope, place));
  return Numbers::of(m.values.at(i * m.columns + j));
}

}  // namespace vphi::tools
