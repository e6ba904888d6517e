#include "compiler/physics/tables/table_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "program/number_text.hpp"

namespace vphi::physics {

namespace fs = std::filesystem;
using Kind = TableError::Kind;

namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;
constexpr const char* kBlanks = " \t\r";
using program::kSeparators;

struct Name {
  std::string path, set;
};

/// "eos.h5:p" -> file and set; the folder of the model in front of relative names.
Name split(const std::string& folder, const std::string& name) {
  const std::size_t colon = name.rfind(':');
  Name out{name.substr(0, colon), colon == std::string::npos ? "" : name.substr(colon + 1)};
  const fs::path path(out.path);
  if (path.is_relative() && !folder.empty()) out.path = (fs::path(folder) / path).string();
  return out;
}

std::string shown(const std::string& path) { return fs::path(path).filename().string(); }

double number(const std::string& word, const std::string& path, int line) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (std::ranges::any_of(word, control))
    throw TableError(Kind::File,
                     fmt::format("{}, line {}: no text (in UTF-8 or ASCII)", shown(path), line));
  const auto found = program::number_in(word);
  if (!found)
    throw TableError(Kind::Row, fmt::format("{}, line {}: `{}` is not a number", shown(path), line,
                                            word.substr(0, 40)));
  const double value = *found;
  if (!std::isfinite(value))
    throw TableError(
        Kind::Row, fmt::format("{}, line {}: {} is not a finite number", shown(path), line, word));
  return value;
}

/// Where row i of a matrix stands, for messages.
std::string place(const Matrix& m, const std::string& path, std::size_t row) {
  return m.lines.empty() ? fmt::format("{}, row {}", shown(path), row + 1)
                         : fmt::format("{}, line {}", shown(path), m.lines[row]);
}

std::size_t column_of(const Name& name, const Matrix& m, std::size_t arguments, bool text) {
  std::size_t column = arguments;
  if (text && !name.set.empty()) {
    unsigned asked = 0;
    const auto [end, error] =
        std::from_chars(name.set.data(), name.set.data() + name.set.size(), asked);
    if (error != std::errc() || end != name.set.data() + name.set.size() || asked == 0)
      throw TableError(Kind::File, fmt::format("`:{}` is not the number of a column", name.set));
    column = asked - 1;
  }
  if (column >= m.columns || column < arguments)
    throw TableError(
        Kind::File,
        fmt::format("{} has {} columns: {} for the argument{}, and column {} is no "
                    "value",
                    shown(name.path), m.columns, arguments, arguments == 1 ? "" : "s", column + 1));
  return column;
}

TableData one_argument(const Matrix& m, const std::string& path, std::size_t column) {
  TableData table;
  table.axes.resize(1);
  for (std::size_t row = 0; row < m.rows(); ++row) {
    const double x = m.values[row * m.columns];
    if (row > 0 && !(x > table.axes[0].back()))
      throw TableError(Kind::Axis, fmt::format("{}: {} does not lie above {} in the row before",
                                               place(m, path, row), x, table.axes[0].back()));
    table.axes[0].push_back(x);
    table.values.push_back(m.values[row * m.columns + column]);
  }
  return table;
}

TableData two_arguments(const Matrix& m, const std::string& path, std::size_t column) {
  TableData table;
  table.axes.resize(2);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t row = 0; row < m.rows(); ++row)
      table.axes[a].push_back(m.values[row * m.columns + a]);
    std::ranges::sort(table.axes[a]);
    const auto rest = std::ranges::unique(table.axes[a]);
    table.axes[a].erase(rest.begin(), rest.end());
  }
  const std::size_t width = table.axes[1].size();
  const auto index = [&](std::size_t a, double v) {
    return static_cast<std::size_t>(std::ranges::lower_bound(table.axes[a], v) -
                                    table.axes[a].begin());
  };
  if (table.axes[0].size() > (std::size_t{1} << 24) / std::max<std::size_t>(1, width))
    throw TableError(Kind::Hole, fmt::format("{}: {} by {} arguments for {} rows are no grid",
                                             shown(path), table.axes[0].size(), width, m.rows()));
  table.values.resize(table.axes[0].size() * width);
  std::vector<std::size_t> from(table.values.size());
  for (std::size_t row = 0; row < m.rows(); ++row) {
    const std::size_t at =
        index(0, m.values[row * m.columns]) * width + index(1, m.values[row * m.columns + 1]);
    if (from[at] != 0)
      throw TableError(Kind::Axis, fmt::format("{}: these arguments stand in {} too",
                                               place(m, path, row), place(m, path, from[at] - 1)));
    from[at] = row + 1;
    table.values[at] = m.values[row * m.columns + column];
  }
  for (std::size_t at = 0; at < from.size(); ++at) {
    if (from[at] == 0)
      throw TableError(Kind::Hole,
                       fmt::format("{}: no row for the arguments {}, {}", shown(path),
                                   table.axes[0][at / width], table.axes[1][at % width]));
  }
  return table;
}

Matrix matrix_of(Hdf5Set set) {
  Matrix m;
  m.columns = set.shape.size() == 2 ? set.shape[1] : 1;
  m.values = std::move(set.values);
  return m;
}

void check_axes(const TableData& table, const std::string& path) {
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    const auto& axis = table.axes[a];
    if (axis.size() < 2)
      throw TableError(Kind::Hole,
                       fmt::format("{}: an argument takes two values at least", shown(path)));
    for (std::size_t i = 1; i < axis.size(); ++i)
      if (!(axis[i] > axis[i - 1]))
        throw TableError(Kind::Axis, fmt::format("{}: entry {} of argument {}, {}, does not lie "
                                                 "above the one before",
                                                 shown(path), i + 1, a + 1, axis[i]));
  }
  for (std::size_t i = 0; i < table.values.size(); ++i)
    if (!std::isfinite(table.values[i]))
      throw TableError(Kind::Row, fmt::format("{}: value {} is {}, not a finite number",
                                              shown(path), i + 1, table.values[i]));
}

}  // namespace

namespace {

/// Numbers of a text line by line, which may be of different lengths.
struct Rows {
  std::vector<std::vector<double>> numbers;
  std::vector<int> lines;  ///< where each row stands
};

/// Refuses blanks alone between some numbers and a comma alone between others: "0 0,333".
void expect_one_separator(const std::string& text, const std::string& path, int line) {
  bool blank = false, comma = false;
  for (std::size_t at = text.find_first_not_of(kBlanks); at < text.size();) {
    const std::size_t begin = text.find_first_of(kSeparators, at);
    const std::size_t end = std::min(text.find_first_not_of(kSeparators, begin), text.size());
    if (begin == std::string::npos || end == text.size()) break;
    const auto between = text.substr(begin, end - begin);
    comma = comma || between == ",";
    blank = blank || between.find_first_not_of(kBlanks) == std::string::npos;
    at = end;
  }
  if (comma && blank)
    throw TableError(
        Kind::Row, fmt::format("{}, line {}: both commas and blanks are between numbers; a number "
                               "has a decimal point, not a comma",
                               shown(path), line));
}

Rows read_rows(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) throw TableError(Kind::File, fmt::format("{}: {}", path, error.message()));
  if (size > kMostBytes)
    throw TableError(Kind::Size,
                     fmt::format("{} has {} MB, a text 64 at most", shown(path), size >> 20));
  std::ifstream in(path);
  if (!in) throw TableError(Kind::File, fmt::format("{} cannot be read", path));
  Rows rows;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    program::keep_numbers(text, line);
    expect_one_separator(text, path, line);
    std::vector<double> found;
    for (const std::string& word : program::words_of(text))
      found.push_back(number(word, path, line));
    if (found.empty()) continue;
    rows.numbers.push_back(std::move(found));
    rows.lines.push_back(line);
  }
  if (rows.lines.empty())
    throw TableError(Kind::File, fmt::format("{} has no numbers", shown(path)));
  return rows;
}

void expect_count(const Rows& rows, std::size_t row, std::size_t count, const std::string& path,
                  const char* where) {
  if (rows.numbers[row].size() != count)
    throw TableError(Kind::Row,
                     fmt::format("{}, line {}: {} numbers, and {} {}", shown(path), rows.lines[row],
                                 rows.numbers[row].size(), count, where));
}

Matrix matrix_of(const Rows& rows, const std::string& path) {
  Matrix m;
  m.columns = rows.numbers.front().size();
  m.lines = rows.lines;
  for (std::size_t row = 0; row < rows.numbers.size(); ++row) {
    expect_count(rows, row, m.columns, path, "in the rows before");
    m.values.insert(m.values.end(), rows.numbers[row].begin(), rows.numbers[row].end());
  }
  return m;
}

/// Values on an even grid behind two lines that say where it is: the first of the second and of the
/// first argument; their steps and the numbers of steps. A row for each value of the first
/// argument. Nothing where the text does not begin so.
std::optional<TableData> even_grid(const Rows& rows, const Name& name) {
  const std::string& path = name.path;
  const auto& numbers = rows.numbers;
  if (numbers.size() < 2 || numbers[0].size() != 2 || numbers[1].size() != 4) return std::nullopt;
  if (!name.set.empty())
    throw TableError(Kind::File, fmt::format("{} is an even grid of one quantity: leave `:{}` out",
                                             shown(path), name.set));
  TableData table;
  for (const std::size_t a : {std::size_t{1}, std::size_t{0}}) {
    const double steps = numbers[1][2 + a];
    if (!(steps >= 1 && steps <= 1 << 24) || steps != std::round(steps) || !(numbers[1][a] > 0))
      throw TableError(Kind::Row,
                       fmt::format("{}, line {}: a grid has positive steps and whole numbers of "
                                   "them, not {} of {}",
                                   shown(path), rows.lines[1], steps, numbers[1][a]));
    table.axes.emplace_back();
    for (double k = 0; k <= steps; ++k)
      table.axes.back().push_back(numbers[0][a] + k * numbers[1][a]);
  }
  if (numbers.size() != 2 + table.axes[0].size())
    throw TableError(
        numbers.size() < 2 + table.axes[0].size() ? Kind::Hole : Kind::Row,
        fmt::format("{}: {} rows of values, and {} in line {}, whose last number is "
                    "that of the steps between them",
                    shown(path), numbers.size() - 2, table.axes[0].size(), rows.lines[1]));
  for (std::size_t row = 2; row < numbers.size(); ++row) {
    expect_count(rows, row, table.axes[1].size(), path, "of the grid");
    table.values.insert(table.values.end(), numbers[row].begin(), numbers[row].end());
  }
  return table;
}

}  // namespace

Matrix read_matrix(const std::string& path) { return matrix_of(read_rows(path), path); }

Matrix read_file(const std::string& folder, const std::string& name) {
  const Name n = split(folder, name);
  return is_hdf5(n.path) ? matrix_of(read_hdf5(n.path, n.set)) : read_matrix(n.path);
}

MatrixFile matrix_file(const std::string& folder, const std::string& name) {
  const Name n = split(folder, name);
  const std::string path = fs::absolute(n.path).string();
  MatrixFile found{path, 0, 0};
  if (is_hdf5(n.path)) {
    std::tie(found.rows, found.columns) = shape_of_hdf5(n.path, n.set);
    found.file += ":" + n.set;
  } else {
    const Matrix m = read_matrix(n.path);
    found.rows = m.rows();
    found.columns = m.columns;
  }
  return found;
}

namespace {

using Lengths = std::vector<std::int64_t>;

/// "(10, 16, 16)"
std::string shape_text(const Lengths& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

/// "(y, x) or (y, x, 3)": what the start of a field takes.
std::string wanted_shapes(const FieldWanted& wanted) {
  std::vector<std::string> all;
  const auto add = [&](const Lengths& value, const char* more) {
    std::string text;
    for (std::size_t a = 0; a < wanted.axes.size(); ++a)
      text += (a == 0 ? "" : ", ") +
              (wanted.extents.empty() ? wanted.axes[a] : std::to_string(wanted.extents[a]));
    for (const std::int64_t n : value) text += ", " + std::to_string(n);
    const bool one = wanted.axes.size() + value.size() == 1 && *more == 0;
    all.push_back("(" + text + more + (one ? ",)" : ")"));
  };
  if (!wanted.links) add({}, "");
  for (const Lengths& value : wanted.values) {
    if (!value.empty() || wanted.links) add(value, "");
    if (wanted.complex) add(value, ", 2");
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + all[i];
  return text;
}

/// The shape of a value behind the axes of the domain, if it is one of those that are wanted.
bool take_value(const Hdf5Shape& shape, const Lengths& rest, const FieldWanted& wanted,
                FieldFound& found) {
  if (rest.empty() && !wanted.links && (!shape.complex || wanted.complex)) {
    found.complex = shape.complex;
    return true;
  }
  for (const Lengths& value : wanted.values) {
    Lengths pairs = value;
    pairs.push_back(2);
    const bool real = !shape.complex && rest == value;
    const bool complex = wanted.complex && (shape.complex ? rest == value : rest == pairs);
    if (!real && !complex) continue;
    found.value = value;
    found.complex = complex;
    return true;
  }
  return false;
}

/// Whether members of a stack, along the first axis, would fit.
bool fits_behind_first(const Hdf5Shape& shape, const FieldWanted& wanted) {
  const auto dims = static_cast<std::ptrdiff_t>(wanted.axes.size());
  if (shape.dims[0] < 1 || static_cast<std::ptrdiff_t>(shape.dims.size()) < 1 + dims) return false;
  const Lengths domain(shape.dims.begin() + 1, shape.dims.begin() + 1 + dims);
  const Lengths rest(shape.dims.begin() + 1 + dims, shape.dims.end());
  FieldFound member;
  return std::ranges::find(domain, 0) == domain.end() &&
         (wanted.extents.empty() || domain == wanted.extents) &&
         take_value(shape, rest, wanted, member);
}

[[noreturn]] void wrong_field_shape(const std::string& name, const Hdf5Shape& shape,
                                    const FieldWanted& wanted) {
  const std::size_t rank = shape.dims.size(), dims = wanted.axes.size();
  std::string text =
      fmt::format("{} has the shape {}{}, and `{}` starts from {}", name, shape_text(shape.dims),
                  shape.complex ? " of complex numbers" : "", wanted.field, wanted_shapes(wanted));
  if (wanted.indices > 0)
    text += fmt::format(" behind {} ind{}", wanted.indices, wanted.indices == 1 ? "ex" : "ices");
  else if (rank > dims && fits_behind_first(shape, wanted))
    text += fmt::format("; of a stack an index takes one, file(\"{}\")[n] with n from 0 to {}",
                        name, shape.dims[0] - 1);
  throw TableError(Kind::Shape, text);
}

FieldFound hdf5_field(const Name& n, const std::string& name, const FieldWanted& wanted) {
  FieldFound found;
  found.file = fs::absolute(n.path).string() + ":" + n.set;
  const Hdf5Shape shape = dimensions_of_hdf5(n.path, n.set);
  const auto first = static_cast<std::ptrdiff_t>(wanted.indices);
  const auto last = first + static_cast<std::ptrdiff_t>(wanted.axes.size());
  if (static_cast<std::ptrdiff_t>(shape.dims.size()) < last) wrong_field_shape(name, shape, wanted);
  const auto at = [&](std::ptrdiff_t i) { return shape.dims.begin() + i; };
  const Lengths domain(at(first), at(last)), rest(at(last), shape.dims.end());
  found.leading.assign(at(0), at(first));
  const bool fits = wanted.extents.empty() ? std::ranges::find(domain, 0) == domain.end()
                                           : domain == wanted.extents;
  if (!fits || !take_value(shape, rest, wanted, found)) wrong_field_shape(name, shape, wanted);
  return found;
}

/// "3" or "3..5": columns of a text, from 1; 0, 0 where none are named.
std::pair<std::size_t, std::size_t> columns_named(const std::string& text) {
  if (text.empty()) return {0, 0};
  const auto number = [&](const std::string& word) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0)
      throw TableError(Kind::File, fmt::format("`:{}` names no columns: write \"name.txt:3\" or "
                                               "\"name.txt:3..5\"",
                                               text));
    return value;
  };
  const std::size_t dots = text.find("..");
  const std::size_t first = number(text.substr(0, dots));
  return {first, dots == std::string::npos ? first : number(text.substr(dots + 2))};
}

/// Numbers of a value: 3 of a vector.
std::int64_t count_of(const Lengths& value) {
  std::int64_t count = 1;
  for (const std::int64_t n : value) count *= n;
  return count;
}

/// Whether the first two columns of several that are not the same in all rows are coordinates of a
/// grid, each pair once: the column behind them, from 1; 0 where they are not.
std::size_t behind_coordinates(const Matrix& m) {
  std::vector<std::size_t> varying;
  for (std::size_t column = 0; column + 1 < m.columns && varying.size() < 2; ++column)
    for (std::size_t row = 1; row < m.rows(); ++row) {
      if (m.values[row * m.columns + column] == m.values[column]) continue;
      varying.push_back(column);
      break;
    }
  if (varying.size() < 2) return 0;
  std::set<double> x, y;
  std::set<std::pair<double, double>> pairs;
  for (std::size_t row = 0; row < m.rows(); ++row) {
    const double* at = &m.values[row * m.columns];
    x.insert(at[varying[0]]), y.insert(at[varying[1]]);
    pairs.emplace(at[varying[0]], at[varying[1]]);
  }
  return pairs.size() == m.rows() && x.size() * y.size() == m.rows() ? varying[1] + 2 : 0;
}

FieldFound text_field(const Name& n, const std::string& name, const FieldWanted& wanted) {
  const bool placed = wanted.extents.empty();  // coordinates in the first columns
  if (wanted.links || (!placed && wanted.axes[0] != "body"))
    throw TableError(Kind::Shape, fmt::format("{}: links are read from an ILDG or NERSC file, or "
                                              "from a set of an HDF5 file",
                                              name));
  if (wanted.indices > 0)
    throw TableError(Kind::Shape,
                     fmt::format("{} is a text: stacks lie in sets of an HDF5 file", name));
  const Matrix m = read_matrix(n.path);
  auto [first, last] = columns_named(n.set);
  FieldFound found;
  found.file = fs::absolute(n.path).string();
  const std::size_t dims = placed ? wanted.axes.size() : 0;
  const std::size_t value = first == 0 && dims == 2 ? behind_coordinates(m) : 0;
  if (value > 0)
    throw TableError(
        Kind::File,
        fmt::format("{}: the first {} columns are coordinates; name that of the value, \"{}:{}\"",
                    shown(n.path), value == 3 ? "two" : fmt::format("{}", value - 1), name, value));
  if (first == 0 && placed && (dims == 1 || dims == 2)) return found;
  if (first == 0 && placed)
    throw TableError(Kind::File, fmt::format("{}: in three dimensions a text has the coordinates "
                                             "x, y, z first; name the column of the value, "
                                             "\"{}:4\"",
                                             shown(n.path), name));
  if (first == 0) first = 1, last = m.columns;
  if (last < first || last > m.columns || first <= dims)
    throw TableError(
        Kind::File,
        fmt::format("{} has {} columns{}, and `:{}` asks for others", shown(n.path), m.columns,
                    dims == 0 ? "" : fmt::format(": {} for the arguments", dims), n.set));
  const auto columns = static_cast<std::int64_t>(last - first + 1);
  if (!placed && static_cast<std::int64_t>(m.rows()) != wanted.extents[0])
    throw TableError(Kind::Shape,
                     fmt::format("{} has {} rows, and `{}` has {} values: a row for "
                                 "each",
                                 shown(n.path), m.rows(), wanted.field, wanted.extents[0]));
  found.column = static_cast<int>(first);
  if (columns == 1) return found;
  for (const Lengths& value : wanted.values) {
    for (const bool complex : {false, true}) {
      if ((complex && !wanted.complex) || columns != count_of(value) * (complex ? 2 : 1)) continue;
      found.value = value;
      found.complex = complex;
      return found;
    }
  }
  throw TableError(Kind::Shape,
                   fmt::format("{} gives {} columns, and `{}` has {}: name them, \"{}:1..{}\"",
                               name, columns, wanted.field, count_of(wanted.values[0]),
                               shown(n.path), count_of(wanted.values[0])));
}

/// The first bytes of a LIME record.
bool begins_with_lime(const std::string& path) {
  constexpr std::string_view kMagic = "\x45\x67\x89\xab";
  std::ifstream in(path, std::ios::binary);
  std::string first(kMagic.size(), ' ');
  return in.read(first.data(), static_cast<std::streamsize>(first.size())) && first == kMagic;
}

/// Spinors of a SciDAC file, "name" or "name:number". Their numbers are checked as they are read.
FieldFound lime_field(const Name& n, const std::string& name, const FieldWanted& wanted) {
  if (!wanted.complex || wanted.values.empty() || wanted.values[0].size() != 2)
    throw TableError(Kind::Shape,
                     fmt::format("{} has spinors, and `{}` is none", shown(n.path), wanted.field));
  if (wanted.indices > 0)
    throw TableError(Kind::Shape, fmt::format("{} is no stack: its spinors are \"{}:1\" and so on",
                                              name, shown(n.path)));
  const auto [first, last] = columns_named(n.set);
  if (first != last)
    throw TableError(Kind::Shape, fmt::format("`:{}` asks for several spinors: take one, \"{}:{}\"",
                                              n.set, shown(n.path), first));
  FieldFound found;
  found.file = fs::absolute(n.path).string() + (n.set.empty() ? "" : ":" + n.set);
  found.value = wanted.values[0];
  found.complex = true;
  return found;
}

}  // namespace

FieldFound field_file(const std::string& folder, const std::string& name,
                      const FieldWanted& wanted) {
  const Name n = split(folder, name);
  if (is_hdf5(n.path)) return hdf5_field(n, name, wanted);
  return begins_with_lime(n.path) ? lime_field(n, name, wanted) : text_field(n, name, wanted);
}

std::vector<std::int64_t> shape_of_start(const std::string& folder, const std::string& name) {
  const Name n = split(folder, name);
  if (!is_hdf5(n.path)) return {};
  return dimensions_of_hdf5(n.path, n.set).dims;
}

std::string located(const std::string& folder, const std::string& name) {
  const Name n = split(folder, name);
  return fs::absolute(n.path).string() + (n.set.empty() ? "" : ":" + n.set);
}

std::optional<std::size_t> axes_of_file(const std::string& folder, const std::string& name) {
  const Name n = split(folder, name);
  if (!is_hdf5(n.path)) return std::nullopt;
  return dimensions_of_hdf5(n.path, n.set).dims.size();
}

namespace {

/// A set of rows: arguments and values.
TableData rows_of_set(const Name& n, const Matrix& m, std::size_t arguments) {
  try {
    const std::size_t column = column_of(n, m, arguments, false);
    return arguments == 1 ? one_argument(m, n.path, column) : two_arguments(m, n.path, column);
  } catch (const TableError& error) {
    throw TableError(error.kind,
                     fmt::format("{}; values on a grid name its arguments in an attribute `axes`",
                                 error.what()));
  }
}

}  // namespace

TableData read_table(const std::string& folder, const std::string& name, std::size_t arguments) {
  const Name n = split(folder, name);
  TableData table;
  if (is_hdf5(n.path)) {
    Hdf5Set set = read_hdf5(n.path, n.set);
    if (!set.axes.empty()) {
      if (set.axes.size() != arguments || set.shape.size() != arguments)
        throw TableError(Kind::Shape, fmt::format("{} has {} axes, and the table {} arguments",
                                                  name, set.axes.size(), arguments));
      for (std::size_t a = 0; a < arguments; ++a)
        if (set.axes[a].size() != set.shape[a])
          throw TableError(Kind::Hole, fmt::format("{}: axis {} has {} entries for {} values", name,
                                                   a + 1, set.axes[a].size(), set.shape[a]));
      table.axes = std::move(set.axes);
      table.values = std::move(set.values);
      check_axes(table, n.path);
      return table;
    }
    table = rows_of_set(n, matrix_of(std::move(set)), arguments);
  } else {
    const Rows rows = read_rows(n.path);
    if (auto grid = arguments == 2 ? even_grid(rows, n) : std::nullopt) {
      check_axes(*grid, n.path);
      return std::move(*grid);
    }
    const Matrix m = matrix_of(rows, n.path);
    const std::size_t column = column_of(n, m, arguments, true);
    table = arguments == 1 ? one_argument(m, n.path, column) : two_arguments(m, n.path, column);
  }
  check_axes(table, n.path);
  return table;
}

}  // namespace vphi::physics
