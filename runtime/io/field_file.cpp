#include "runtime/io/field_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <span>
#include <sstream>

#include "program/number_text.hpp"
#include "runtime/io/configurations/scidac.hpp"
#include "runtime/io/files/set_name.hpp"
#include "runtime/io/result_groups.hpp"
#include "runtime/io/start_error.hpp"

#ifdef VPHI_HAVE_HDF5
#include "program/hdf5_read.hpp"
#endif

namespace vphi::io {
namespace {

using Numbers = std::vector<double>;

constexpr double kSame = 1e-9;  ///< of a cell: edges that count as the same

/// Half way between neighbouring centres, and as far beyond the first and the last.
Numbers edges_between(const Numbers& centres, const std::string& file, int axis) {
  const std::size_t n = centres.size();
  for (std::size_t i = 1; i < n; ++i)
    if (!(centres[i] > centres[i - 1]))
      throw StartError(
          fmt::format("{}: coordinate {} along axis {} does not lie above the one "
                      "before",
                      file, i + 1, axis + 1));
  if (n < 2)
    throw StartError(
        fmt::format("{}: axis {} has one cell, whose width nobody knows", file, axis + 1));
  Numbers edges(n + 1);
  for (std::size_t i = 1; i < n; ++i) edges[i] = (centres[i - 1] + centres[i]) / 2;
  edges[0] = centres[0] - (edges[1] - centres[0]);
  edges[n] = centres[n - 1] + (centres[n - 1] - edges[n - 1]);
  return edges;
}

void check_finite(const FieldFile& field, const std::string& file) {
  const auto bad =
      std::ranges::find_if_not(field.values, [](double v) { return std::isfinite(v); });
  if (bad == field.values.end()) return;
  std::int64_t rest = bad - field.values.begin();
  std::string at;
  for (const std::int64_t n : field.cells) {
    at += fmt::format("{}{}", at.empty() ? "" : ", ", rest % n);
    rest /= n;
  }
  throw StartError(fmt::format("{}: cell ({}) holds {}, no finite number", file, at, *bad));
}

// ---- text ---------------------------------------------------------------------------------------

struct Rows {
  std::size_t columns = 0;
  Numbers values;
  std::size_t count() const { return columns == 0 ? 0 : values.size() / columns; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

Rows rows_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw StartError(fmt::format("{} is not there", path));
  Rows rows;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    program::keep_numbers(line, number);
    const std::size_t before = rows.values.size();
    for (const std::string& word : program::words_of(line)) {
      const auto v = program::number_in(word);
      if (!v)
        throw StartError(fmt::format("{}, line {}: `{}` is not a number", path, number, word));
      rows.values.push_back(*v);
    }
    const std::size_t found = rows.values.size() - before;
    if (found == 0) continue;
    if (rows.columns == 0) rows.columns = found;
    if (found != rows.columns)
      throw StartError(fmt::format("{}, line {}: {} numbers, and {} in the rows before", path,
                                   number, found, rows.columns));
  }
  if (rows.columns == 0) throw StartError(fmt::format("{} holds no numbers", path));
  return rows;
}

/// The columns of the coordinates: the first that are not the same in all rows. A slice of one
/// rapidity, "eta x y e", is a field of a plane.
std::vector<std::size_t> coordinate_columns(const Rows& rows, std::size_t column, std::size_t dims,
                                            const std::string& path) {
  std::vector<std::size_t> all(dims), varying;
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (rows.count() < 2) return all;
  const auto varies = [&](std::size_t c) {
    for (std::size_t row = 1; row < rows.count(); ++row)
      if (rows.at(row, c) != rows.at(0, c)) return true;
    return false;
  };
  for (std::size_t c = 0; c < column && varying.size() < dims; ++c)
    if (varies(c)) varying.push_back(c);
  if (varying.size() == dims) return varying;
  const auto same = std::ranges::find_if_not(all, varies);
  if (same == all.end()) return all;
  throw StartError(
      fmt::format("{}: column {} is {:.6g} in all rows, so its cells have no width along an axis, "
                  "and the lattice has {}. One slice is read on a lattice without that axis; to "
                  "fill it, write the rows twice, with a coordinate at either end of it",
                  path, *same + 1, rows.at(0, *same), dims));
}

/// Rows of coordinates and a value, in any order, as a grid.
FieldFile placed(const Rows& rows, std::size_t column, int dims, const std::string& path) {
  if (column >= rows.columns || column < static_cast<std::size_t>(dims))
    throw StartError(
        fmt::format("{} has {} columns: the first {} are coordinates, and column {} "
                    "is not a value",
                    path, rows.columns, dims, column + 1));
  FieldFile field;
  std::vector<Numbers> axes(static_cast<std::size_t>(dims));
  const auto from = coordinate_columns(rows, column, axes.size(), path);
  std::size_t cells = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t row = 0; row < rows.count(); ++row) axes[a].push_back(rows.at(row, from[a]));
    std::ranges::sort(axes[a]);
    const auto rest = std::ranges::unique(axes[a]);
    axes[a].erase(rest.begin(), rest.end());
    field.cells.push_back(static_cast<std::int64_t>(axes[a].size()));
    cells *= axes[a].size();
    if (cells > rows.count()) break;
  }
  if (cells != rows.count())
    throw StartError(
        fmt::format("{}: {} rows are no grid: each combination of coordinates "
                    "stands there once",
                    path, rows.count()));
  field.values.assign(cells, std::nan(""));
  for (std::size_t row = 0; row < rows.count(); ++row) {
    std::size_t index = 0;
    for (std::size_t a = axes.size(); a-- > 0;) {
      const auto at = std::ranges::lower_bound(axes[a], rows.at(row, from[a])) - axes[a].begin();
      index = index * axes[a].size() + static_cast<std::size_t>(at);
    }
    field.values[index] = rows.at(row, column);
  }
  for (std::size_t a = 0; a < axes.size(); ++a)
    field.edges.push_back(edges_between(axes[a], path, static_cast<int>(a)));
  return field;
}

/// One column, a row for each body.
FieldFile column_of(const Rows& rows, std::size_t column, const std::string& path) {
  if (column >= rows.columns)
    throw StartError(
        fmt::format("{} has {} columns, and none is number {}", path, rows.columns, column + 1));
  FieldFile field;
  field.cells.push_back(static_cast<std::int64_t>(rows.count()));
  for (std::size_t row = 0; row < rows.count(); ++row) field.values.push_back(rows.at(row, column));
  return field;
}

FieldFile read_text(const std::string& path, std::size_t column, const FieldPlace& place) {
  const Rows rows = rows_of(path);
  const int dims = place.dims;
  if (place.as_it_is) return column_of(rows, column > 0 ? column - 1 : 0, path);
  if (column == 0 && dims == 1 && rows.columns > 1) column = 2;
  if (column > 0) return placed(rows, column - 1, dims, path);
  if (dims > 2)
    throw StartError(
        fmt::format("{}: a text for three dimensions has the coordinates in its "
                    "first columns; name that of the value, `{}:4`",
                    path, path));
  FieldFile field;
  field.cells.push_back(static_cast<std::int64_t>(dims == 1 ? rows.values.size() : rows.columns));
  if (dims == 2) field.cells.push_back(static_cast<std::int64_t>(rows.count()));
  field.values = rows.values;
  return field;
}

// ---- HDF5 ---------------------------------------------------------------------------------------

#ifdef VPHI_HAVE_HDF5

using hdf5::Handle;

constexpr hsize_t kMostNumbers = hsize_t{1} << 36;

[[noreturn]] void fail(const std::string& message) { throw StartError(message); }

Handle opened_set(hid_t file, const std::string& path, const std::string& name) {
  Handle set = hdf5::open_set(file, name);
  if (set < 0) fail(fmt::format("{} has no set `{}`; {}", path, name, hdf5::sets_of(file)));
  return set;
}

/// Part of a set that is wanted, as a start and a count along each axis.
struct Slab {
  std::vector<hsize_t> start, count;
};

/// A real number, or one of the two of a complex one, at each place of the slab.
Numbers read_slab(hid_t set, const Slab& slab, unsigned member, const std::string& shown) {
  const auto kind = hdf5::number_kind(set);
  if (!kind) fail(shown + " holds no numbers");
  const std::size_t count = hdf5::count_of(slab.count, kMostNumbers).value_or(kMostNumbers + 1);
  if (count > kMostNumbers) fail(shown + " says that it is of an impossible size");
  Numbers values(count);
  const Handle pair =
      *kind == hdf5::NumberKind::Complex ? hdf5::member_type(set, member) : Handle();
  const Handle there(H5Dget_space(set), H5Sclose);
  const hsize_t flat = count;
  const Handle here(H5Screate_simple(1, &flat, nullptr), H5Sclose);
  if (H5Sselect_hyperslab(there, H5S_SELECT_SET, slab.start.data(), nullptr, slab.count.data(),
                          nullptr) < 0 ||
      H5Dread(set, pair >= 0 ? hid_t{pair} : H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT,
              values.data()) < 0)
    fail(shown + " cannot be read as numbers");
  return values;
}

/// Names in the attribute `axes`, slowest axis first.
std::vector<std::string> axes_of(hid_t set) {
  std::string text = hdf5::text_attribute(set, kAxesAttribute);
  std::vector<std::string> names;
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) names.push_back(word);
  return names;
}

/// The edges of the cells along each axis, x first; empty where the file does not give them.
std::vector<Numbers> edges_of(hid_t file, hid_t set, const std::string& path,
                              const std::vector<std::int64_t>& cells) {
  const auto axes = axes_of(set);
  if (axes.size() != cells.size()) return {};
  std::vector<Numbers> edges;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::string& name = axes[axes.size() - 1 - a];
    const Handle axis = opened_set(file, path, name);
    const auto shape = hdf5::shape_of(axis);
    const bool fits = shape && shape->size() == 1 && (*shape)[0] == static_cast<hsize_t>(cells[a]);
    if (!fits) fail(fmt::format("{}:{} has no coordinates for {} cells", path, name, cells[a]));
    if (cells[a] == 1) return {};
    const std::string shown = path + ":" + name;
    edges.push_back(
        edges_between(read_slab(axis, {{0}, *shape}, 0, shown), shown, static_cast<int>(a)));
  }
  return edges;
}

/// The number `rest` of values in a shape, as a place along each axis; the last fastest.
void place_in(std::vector<hsize_t>& start, std::span<const hsize_t> shape, std::size_t first,
              hsize_t rest) {
  for (std::size_t a = shape.size(); a-- > 0; rest /= shape[a]) start[first + a] = rest % shape[a];
}

std::vector<FieldFile> read_opened(const std::string& path, const std::string& name,
                                   const FieldPlace& place,
                                   const std::vector<std::int64_t>& members) {
  const Handle file = hdf5::open_to_read(path);
  if (file < 0) fail(hdf5::why_not_opened(path));
  const Handle set = opened_set(file, path, name);
  const std::string shown = path + ":" + name;
  const auto found = hdf5::shape_of(set);
  const std::size_t front = place.leading.size(), dims = static_cast<std::size_t>(place.dims);
  if (!found || found->size() < front + dims)
    fail(fmt::format("{} has {} axes, and the lattice {}", shown, found ? found->size() : 0, dims));
  const std::span<const hsize_t> shape(*found);
  const bool pairs = hdf5::number_kind(set) == hdf5::NumberKind::Complex && place.components > 1;
  const auto entry = static_cast<hsize_t>(pairs ? place.entry / 2 : place.entry);
  const auto behind = shape.subspan(front + dims);
  const auto values = hdf5::count_of({behind.begin(), behind.end()}, kMostNumbers);
  const auto inside = [&](std::size_t a) {
    return shape[a] == static_cast<hsize_t>(place.leading[a]);
  };
  bool fits = values && *values == static_cast<std::size_t>(place.components / (pairs ? 2 : 1));
  for (std::size_t a = 0; a < front; ++a) fits = fits && inside(a);
  if (!fits)
    fail(fmt::format("{} has not the shape that it had when the model was compiled", shown));
  FieldFile field;
  for (std::size_t a = dims; a-- > 0;)
    field.cells.push_back(static_cast<std::int64_t>(shape[front + a]));
  if (!place.as_it_is) field.edges = edges_of(file, set, path, field.cells);
  Slab slab{std::vector<hsize_t>(shape.size(), 0), std::vector<hsize_t>(shape.size(), 1)};
  std::copy_n(shape.begin() + static_cast<std::ptrdiff_t>(front), dims,
              slab.count.begin() + static_cast<std::ptrdiff_t>(front));
  place_in(slab.start, behind, front + dims, entry);
  std::vector<FieldFile> all;
  for (const std::int64_t member : members) {
    place_in(slab.start, shape.first(front), 0, static_cast<hsize_t>(member));
    field.values = read_slab(set, slab, static_cast<unsigned>(place.entry % 2), shown);
    all.push_back(field);
  }
  return all;
}

std::vector<FieldFile> read_hdf5(const std::string& path, const std::string& set,
                                 const FieldPlace& place,
                                 const std::vector<std::int64_t>& members) {
  return hdf5::read_stranger(
      path, [&] { return read_opened(path, set, place, members); }, fail);
}

#else

std::vector<FieldFile> read_hdf5(const std::string& path, const std::string&, const FieldPlace&,
                                 const std::vector<std::int64_t>&) {
  throw StartError(fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", path));
}

#endif

// ---- resampling ---------------------------------------------------------------------------------

Numbers evenly(double low, double step, std::int64_t cells) {
  Numbers edges;
  for (std::int64_t i = 0; i <= cells; ++i) edges.push_back(low + step * static_cast<double>(i));
  return edges;
}

bool same(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return false;
  const double width = (b.back() - b.front()) / static_cast<double>(b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > kSame * width) return false;
  return true;
}

/// Limited slope of each cell, per length.
Numbers slopes_of(const Numbers& edges, const Numbers& line) {
  Numbers slopes(line.size(), 0.0);
  const auto centre = [&](std::size_t i) { return (edges[i] + edges[i + 1]) / 2; };
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    const double left = (line[i] - line[i - 1]) / (centre(i) - centre(i - 1));
    const double right = (line[i + 1] - line[i]) / (centre(i + 1) - centre(i));
    if (left * right > 0) slopes[i] = std::abs(left) < std::abs(right) ? left : right;
  }
  return slopes;
}

/// Means over the cells between `to` of a line of means over those between `from`.
Numbers moved(const Numbers& from, const Numbers& line, const Numbers& to) {
  const Numbers slopes = slopes_of(from, line);
  Numbers out(to.size() - 1, 0.0);
  const std::size_t n = line.size();
  for (std::size_t i = 0; i + 1 < to.size(); ++i) {
    const double a = to[i], b = to[i + 1];
    double sum = 0;
    if (a < from.front()) sum += line.front() * (std::min(b, from.front()) - a);
    if (b > from.back()) sum += line.back() * (b - std::max(a, from.back()));
    const auto begin = std::ranges::upper_bound(from, a) - from.begin();
    for (auto j = static_cast<std::size_t>(std::max<std::ptrdiff_t>(begin - 1, 0));
         j < n && from[j] < b; ++j) {
      const double low = std::max(a, from[j]), high = std::min(b, from[j + 1]);
      if (high <= low) continue;
      const double middle = (low + high) / 2 - (from[j] + from[j + 1]) / 2;
      sum += (high - low) * (line[j] + slopes[j] * middle);
    }
    out[i] = sum / (b - a);
  }
  return out;
}

}  // namespace

std::vector<FieldFile> read_fields(const std::string& file, const FieldPlace& place,
                                   const std::vector<std::int64_t>& members) {
  if (const std::size_t open = file.rfind("{}"); open != std::string::npos) {
    std::vector<FieldFile> all;
    for (const std::int64_t member : members) {
      std::string name = file;
      name.replace(open, 2, std::to_string(member));
      all.push_back(read_fields(name, place).front());
    }
    return all;
  }
  if (const auto name = set_name(file)) {
    auto fields = read_hdf5(name->path, name->set, place, members);
    for (const FieldFile& field : fields) check_finite(field, file);
    return fields;
  }
  const std::size_t colon = file.rfind(':');
  std::size_t column = 0;
  if (colon != std::string::npos)
    std::from_chars(file.data() + colon + 1, file.data() + file.size(), column);
  const std::string path = column > 0 ? file.substr(0, colon) : file;
  const FieldFile field =
      is_lime(path) ? read_scidac(path, column, place) : read_text(path, column, place);
  check_finite(field, file);
  return std::vector<FieldFile>(members.size(), field);
}

FieldFile read_field(const std::string& file, int dims) {
  FieldPlace place;
  place.dims = dims;
  return read_fields(file, place)[0];
}

namespace {

/// Cells that lie outside of the box along an axis have nothing to say inside of it.
void check_in_box(const FieldFile& field, const std::array<std::int64_t, 4>& extent, double dx,
                  const std::string& file) {
  for (std::size_t axis = 0; axis < field.edges.size(); ++axis) {
    const double half = static_cast<double>(extent[axis]) * dx / 2;
    const Numbers& edges = field.edges[axis];
    if (edges.empty() || (edges.front() < half && edges.back() > -half)) continue;
    throw StartError(
        fmt::format("{}: the cells lie between {:.4g} and {:.4g} along {}, outside of the box from "
                    "{:.4g} to {:.4g}; coordinates count from its centre, in the length unit of "
                    "the model: `units`, and move or scale them",
                    file, edges.front(), edges.back(), "xyzt"[axis], -half, half));
  }
}

}  // namespace

std::vector<double> resampled(const FieldFile& field, const std::array<std::int64_t, 4>& extent,
                              double dx, const std::string& file) {
  check_in_box(field, extent, dx, file);
  std::vector<std::int64_t> shape = field.cells;
  Numbers values = field.values;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t sites = extent[axis];
    const double length = static_cast<double>(sites) * dx;
    const Numbers to = evenly(-length / 2, dx, sites);
    const Numbers from =
        field.edges.empty()
            ? evenly(-length / 2, length / static_cast<double>(shape[axis]), shape[axis])
            : field.edges[axis];
    if (same(from, to)) continue;
    const auto n = static_cast<std::size_t>(shape[axis]), m = static_cast<std::size_t>(sites);
    const std::size_t stride = static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
                        std::int64_t{1}, std::multiplies<>()));
    const std::size_t blocks = values.size() / (n * stride);
    Numbers next(blocks * m * stride);
    Numbers line(n);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t inner = 0; inner < stride; ++inner) {
        for (std::size_t i = 0; i < n; ++i) line[i] = values[(block * n + i) * stride + inner];
        const Numbers made = moved(from, line, to);
        for (std::size_t i = 0; i < m; ++i) next[(block * m + i) * stride + inner] = made[i];
      }
    }
    values = std::move(next);
    shape[axis] = sites;
  }
  return values;
}

}  // namespace vphi::io
