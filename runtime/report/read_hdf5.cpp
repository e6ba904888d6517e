#include "runtime/report/read_hdf5.hpp"

#include <fmt/format.h>

#ifdef VPHI_HAVE_HDF5

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <tuple>

#include "program/hdf5_read.hpp"
#include "runtime/io/result_groups.hpp"
#include "runtime/report/encode.hpp"

namespace vphi::report {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFrames = 240;                  ///< of a table or a picture
constexpr std::size_t kMostPlaces = 5;                    ///< of a sweep whose arrays are shown
constexpr int kLargestEdge = 640;                         ///< of a picture, pixels
constexpr hsize_t kMostValues = hsize_t{1} << 26;         ///< of one dataset: 0.5 GB
constexpr std::size_t kMostBytes = std::size_t{6} << 30;  ///< of a whole report

using hdf5::Handle, hdf5::number_attribute, hdf5::open_set, hdf5::text_attribute,
    hdf5::texts_attribute;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw io::ResultsError(fmt::format("{}: {}", file.string(), what));
}

std::vector<std::string> members(hid_t group) {
  std::vector<std::string> names;
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto size =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (size <= 0) continue;
    std::string name(static_cast<std::size_t>(size) + 1, '\0');
    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(),
                       H5P_DEFAULT);
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

struct Array {
  std::vector<hsize_t> shape;
  std::vector<double> values;
};

Array read_array(hid_t set, const fs::path& file) {
  Array array;
  auto shape = hdf5::shape_of(set);
  if (!shape) fail(file, "a dataset has no shape");
  array.shape = std::move(*shape);
  const hsize_t count = hdf5::count_of(array.shape, kMostValues).value_or(kMostValues + 1);
  if (count > kMostValues) fail(file, "a dataset is too large for a report");
  array.values.resize(count);
  if (count > 0 &&
      H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) < 0)
    fail(file, "a dataset cannot be read (damaged?)");
  return array;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    parts.push_back(part);
  }
  return parts;
}

std::string own_name(hid_t set, const std::string& link) {
  const std::string name = text_attribute(set, "name");
  return name.empty() ? link : name;
}

class ResultsReader {
 public:
  ResultsReader(Report& report, const fs::path& file)
      : report_(report), path_(file), file_(hdf5::open_to_read(file.string())) {
    if (file_ < 0) fail(file, "cannot be opened as HDF5");
  }

  void read() {
    describe();
    for (const std::string& group : members(file_)) {
      if (group == io::kSeriesGroup)
        read_series();
      else if (group == io::kPlotsGroup)
        read_plots();
      else if (const program::OutputRow* row = program::output_of_group(group))
        read_frames(*row);
    }
  }

 private:
  Handle open_group(hid_t where, const std::string& name) const {
    return {H5Gopen2(where, name.c_str(), H5P_DEFAULT), H5Gclose};
  }

  void describe() {
    const auto fill = [](std::string& to, std::string text) {
      if (to.empty()) to = std::move(text);
    };
    fill(report_.model, text_attribute(file_, "model"));
    fill(report_.title, text_attribute(file_, "title"));
    fill(report_.text, text_attribute(file_, io::kModelText));
    if (const auto seed = number_attribute<std::uint64_t>(file_, "seed", H5T_NATIVE_UINT64))
      report_.seed = *seed;
    dx_ = number_attribute<double>(file_, "dx", H5T_NATIVE_DOUBLE).value_or(1);
    if (report_.lattice.empty() && H5Aexists(file_, "lattice") > 0) {
      const Handle a(H5Aopen(file_, "lattice", H5P_DEFAULT), H5Aclose);
      const Handle space(H5Aget_space(a), H5Sclose);
      const auto count = H5Sget_simple_extent_npoints(space);
      std::vector<std::int64_t> extent(count > 0 && count <= 4 ? static_cast<std::size_t>(count)
                                                               : 0);
      if (!extent.empty() && H5Aread(a, H5T_NATIVE_INT64, extent.data()) >= 0)
        report_.lattice = runtime::shape_text(extent);
    }
    if (report_.versions.empty()) {
      const std::string version = text_attribute(file_, "vphi_version");
      if (!version.empty()) report_.versions.emplace_back("vphi", version);
    }
    std::istringstream changes(text_attribute(file_, "changes"));
    for (std::string line; std::getline(changes, line);) {
      const std::string note = "changed in the course of the run: " + line;
      if (std::ranges::count(report_.warnings, note) == 0) report_.warnings.push_back(note);
    }
    if (H5Lexists(file_, io::kParametersGroup, H5P_DEFAULT) > 0 && report_.parameters.empty()) {
      const Handle group = open_group(file_, io::kParametersGroup);
      const int count = group < 0 ? 0 : H5Aget_num_attrs(group);
      for (int i = 0; i < count; ++i) {
        const Handle a(H5Aopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC,
                                      static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
        std::string name(256, '\0');
        const auto size = H5Aget_name(a, name.size(), name.data());
        double value = 0;
        if (size <= 0 || static_cast<std::size_t>(size) >= name.size() ||
            H5Aread(a, H5T_NATIVE_DOUBLE, &value) < 0)
          continue;
        name.resize(static_cast<std::size_t>(size));
        report_.parameters.push_back({name, "", "", value, "", false});
      }
    }
  }

  void read_series() {
    const Handle group = open_group(file_, io::kSeriesGroup);
    if (group < 0) return;
    for (const std::string& link : members(group)) {
      const Handle set = open_set(group, link);
      if (set < 0) continue;
      const std::string times = text_attribute(set, "times");
      if (!times.empty())
        read_rows(set, link, times);
      else
        read_pairs(set, link);
    }
  }

  /// Rows of t, value, error, as other programs and earlier versions write them.
  void read_pairs(hid_t set, const std::string& link) {
    const Array a = read_array(set, path_);
    if (a.shape.size() != 2 || a.shape[1] < 2) return;
    Series s;
    s.name = own_name(set, link);
    const auto columns = split(text_attribute(set, "columns"));
    if (!columns.empty() && columns[0] != "t") s.along = columns[0];
    const bool errors = a.shape[1] > 2 && columns.size() > 2 && columns[2] == "error";
    for (hsize_t row = 0; row < a.shape[0]; ++row) {
      const double* at = a.values.data() + row * a.shape[1];
      s.x.push_back(at[0]);
      s.y.push_back(at[1]);
      if (errors) s.error.push_back(at[2]);
    }
    if (s.along == "t" && !s.x.empty()) report_.time = std::max(report_.time, s.x.back());
    if (report_.find(s.name) == nullptr) report_.series.push_back(std::move(s));
  }

  /// /GROUP/NAME; empty where there is none.
  std::vector<double> beside(const char* group_name, const std::string& link) const {
    if (H5Lexists(file_, group_name, H5P_DEFAULT) <= 0) return {};
    const Handle group = open_group(file_, group_name);
    if (group < 0 || H5Lexists(group, link.c_str(), H5P_DEFAULT) <= 0) return {};
    const Handle set = open_set(group, link);
    return set < 0 ? std::vector<double>{} : read_array(set, path_).values;
  }

  /// [time, axis, axis, ...]: the last row along its axes, or all of it where there is none.
  void read_rows(hid_t set, const std::string& link, const std::string& times_path) {
    const Array a = read_array(set, path_);
    const std::string name = own_name(set, link);
    const Handle clock = open_set(file_, times_path);
    const auto times = clock < 0 ? std::vector<double>{} : read_array(clock, path_).values;
    const auto errors = beside(io::kErrorsGroup, link);
    if (a.shape.empty() || a.shape[0] == 0 || a.values.empty()) return;
    const std::size_t row = a.values.size() / a.shape[0];
    if (!times.empty()) report_.time = std::max(report_.time, times.back());
    if (a.shape.size() == 1) {
      Series s{name, "t", times, a.values, errors};
      if (s.error.size() != s.y.size()) s.error.clear();
      if (s.x.size() == s.y.size() && report_.find(name) == nullptr)
        report_.series.push_back(std::move(s));
      return;
    }
    const auto labels = texts_attribute(set, "DIMENSION_LABELS");
    std::vector<SweepAxis> axes;
    for (std::size_t d = 1; d < a.shape.size(); ++d) {
      SweepAxis axis;
      axis.name = d < labels.size() ? labels[d] : "axis " + std::to_string(d);
      axis.values = beside(io::kAxesGroup, axis.name);
      if (axis.values.size() != a.shape[d]) {
        axis.values.clear();
        for (hsize_t i = 0; i < a.shape[d]; ++i) axis.values.push_back(static_cast<double>(i));
      }
      axes.push_back(std::move(axis));
    }
    const auto last = [&](const std::vector<double>& all) {
      if (all.size() < row) return std::vector<double>{};
      return std::vector<double>(all.end() - static_cast<std::ptrdiff_t>(row), all.end());
    };
    add_swept(report_, name, axes, last(a.values), last(errors), times.empty() ? 0 : times.back());
    std::vector<std::vector<double>> rows;
    for (std::size_t first = 0; first + row <= a.values.size(); first += row)
      rows.emplace_back(a.values.begin() + static_cast<std::ptrdiff_t>(first),
                        a.values.begin() + static_cast<std::ptrdiff_t>(first + row));
    add_histories(report_, name, axes, times, rows);
  }

  /// /plots/NAME: x, y, error.
  void read_plots() {
    const Handle group = open_group(file_, io::kPlotsGroup);
    if (group < 0) return;
    for (const std::string& link : members(group)) {
      const Handle set = open_set(group, link);
      if (set < 0) continue;
      const Array a = read_array(set, path_);
      if (a.shape.size() != 2 || a.shape[1] < 2) continue;
      Series s;
      s.name = own_name(set, link);
      s.along = text_attribute(set, "against");
      if (s.along.empty()) s.along = "x";
      for (hsize_t i = 0; i < a.shape[0]; ++i) {
        const double* at = a.values.data() + i * a.shape[1];
        s.x.push_back(at[0]);
        s.y.push_back(at[1]);
        if (a.shape[1] > 2) s.error.push_back(at[2]);
      }
      s.curve = "plot against " + s.along;
      report_.series.push_back(std::move(s));
    }
  }

  /// /group/name/step: tables where columns are known, else planes.
  void read_frames(const program::OutputRow& row) {
    using program::OutputShape;
    const Handle group = open_group(file_, std::string(row.group));
    if (group < 0 || row.shape == OutputShape::Configuration || row.shape == OutputShape::Elements)
      return;
    const bool whole = row.arrays == program::OutputArrays::Whole;
    for (const std::string& link : members(group)) {
      const Handle name = open_group(group, link);
      if (name < 0) continue;
      auto steps = members(name);
      std::erase_if(steps, [](const std::string& step) {  // the scales of its dimensions
        return step.find_first_not_of("0123456789") != std::string::npos;
      });
      std::vector<Shown> shown;  ///< one, or one for each value of a sweep that is shown
      for (const std::size_t i : spread(steps.size(), kMostFrames)) {
        const Handle set = open_set(name, steps[i]);
        if (set < 0 || (whole && !shows_whole(set))) continue;
        Array a = read_array(set, path_);
        const double t = number_attribute<double>(set, "t", H5T_NATIVE_DOUBLE).value_or(0);
        const auto step = number_attribute<std::int64_t>(set, "step", H5T_NATIVE_INT64).value_or(0);
        auto columns = split(text_attribute(set, "columns"));
        const auto cells = take_cells(set, a);
        if (columns.empty() && row.shape == OutputShape::Counts && a.shape.size() == 2 &&
            a.shape[1] == 2)
          columns = {"value", "count"};
        if (columns.empty() && row.shape == OutputShape::Places) columns = {"x", "mean"};
        const std::size_t sites = sites_of(set);
        if (whole && sites < a.shape.size()) {
          take_components(shown, set, link, a, sites, {t, step});
          continue;
        }
        shown.resize(std::max(shown.size(), cells.size()));
        for (std::size_t c = 0; c < cells.size(); ++c) {
          const Array own = cells.size() == 1 && cells[c].where.empty() ? a : cell_of(a, cells[c]);
          const std::string full = own_name(set, link) + cells[c].where;
          if (columns.size() >= 2 && own.shape.size() == 2 && own.shape[1] == columns.size()) {
            shown[c].table.name = full;
            take_table(shown[c].table, own, columns, t, step);
          } else if (columns.empty() && !own.shape.empty() && own.shape.size() <= 2) {
            shown[c].picture.name = full;
            shown[c].picture.slice = row.shape == OutputShape::Sites;
            take_plane(shown[c].picture, own, set, t, step);
          }
        }
      }
      for (Shown& one : shown) put_away(std::move(one), row.shape);
    }
  }

  /// Axes of the lattice, of which each has its coordinates; those of a value at a site have none.
  static std::size_t sites_of(hid_t set) {
    const std::string axes = text_attribute(set, io::kAxesAttribute);
    std::size_t sites = axes.empty() ? 0 : 1;
    for (std::size_t at = 0; (at = axes.find(", /", at)) != std::string::npos; ++at) ++sites;
    return sites;
  }

  /// A whole lattice of one or two dimensions is a curve or a picture as it stands, of each
  /// component of a value. One that is larger than a page is left out.
  static bool shows_whole(hid_t set) {
    const auto shape = hdf5::shape_of(set);
    const std::size_t sites = sites_of(set);
    if (!shape || sites == 0 || !hdf5::count_of(*shape, kMostValues)) return false;
    return sites <= shape->size() && sites <= 2 + split(text_attribute(set, "sweep")).size();
  }

  struct Shown {
    Table table;
    Picture picture;
  };

  struct When {
    double time = 0;
    std::int64_t step = 0;
  };

  /// A picture of each component of a vector, a matrix or a complex field.
  void take_components(std::vector<Shown>& shown, hid_t set, const std::string& link,
                       const Array& a, std::size_t sites, const When& at) const {
    const auto first = a.shape.begin() + static_cast<std::ptrdiff_t>(sites);
    const std::vector<std::int64_t> value(first, a.shape.end());
    const auto labels = texts_attribute(set, "DIMENSION_LABELS");
    const bool parts = !labels.empty() && labels.back() == "part";
    const auto names = io::component_names(own_name(set, link), value, parts);
    shown.resize(std::max(shown.size(), names.size()));
    for (std::size_t c = 0; c < names.size(); ++c) {
      Array one{{a.shape.begin(), first}, {}};
      for (std::size_t i = c; i < a.values.size(); i += names.size())
        one.values.push_back(a.values[i]);
      shown[c].picture.name = names[c];
      shown[c].picture.slice = true;
      take_plane(shown[c].picture, one, set, at.time, at.step);
    }
  }

  void put_away(Shown&& shown, program::OutputShape shape) {
    Table& table = shown.table;
    Picture& picture = shown.picture;
    table.kind = table_kind(shape);
    if (!table.frames.empty()) report_.tables.push_back(std::move(table));
    if (picture.planes.empty()) return;
    // a line of values is a curve, not a plane
    if (picture.planes.front().height == 1 && picture.slice)
      report_.tables.push_back(line_of(picture));
    else
      take_picture(std::move(picture));
  }

  /// One place along the axes of a sweep.
  struct Cell {
    std::size_t index = 0;
    std::string where;  ///< " at T = 0.1, draw = 2"; empty: there is no sweep
  };

  /// Of an array with the axes of a sweep in front (attribute "sweep") those places that a page can
  /// show; `a` loses these axes in its shape.
  std::vector<Cell> take_cells(hid_t set, Array& a) const {
    const auto names = split(text_attribute(set, "sweep"));
    if (names.empty() || names.size() > a.shape.size()) return {Cell{}};
    const auto front = static_cast<std::ptrdiff_t>(names.size());
    const std::vector<hsize_t> lengths(a.shape.begin(), a.shape.begin() + front);
    a.shape.erase(a.shape.begin(), a.shape.begin() + front);
    std::size_t all = 1;
    for (const hsize_t n : lengths) all *= n;
    std::vector<std::vector<double>> values;
    for (const std::string& axis : names) values.push_back(beside(io::kAxesGroup, axis));
    std::vector<Cell> cells;
    for (const std::size_t index : spread(all, kMostPlaces)) {
      Cell cell{index, ""};
      std::size_t rest = index;
      for (std::size_t d = names.size(); d-- > 0; rest /= lengths[d]) {
        const std::size_t place = rest % lengths[d];
        const double value =
            place < values[d].size() ? values[d][place] : static_cast<double>(place);
        cell.where = fmt::format("{} = {:.6g}{}{}", names[d], value, cell.where.empty() ? "" : ", ",
                                 cell.where);
      }
      cell.where = " at " + cell.where;
      cells.push_back(std::move(cell));
    }
    return cells;
  }

  static Array cell_of(const Array& a, const Cell& cell) {
    Array own{a.shape, {}};
    std::size_t size = 1;
    for (const hsize_t n : a.shape) size *= n;
    const auto first = static_cast<std::ptrdiff_t>(cell.index * size);
    if ((cell.index + 1) * size <= a.values.size())
      own.values.assign(a.values.begin() + first,
                        a.values.begin() + first + static_cast<std::ptrdiff_t>(size));
    else
      own.shape.assign(own.shape.size(), 0);
    return own;
  }

  void take_picture(Picture&& picture) {
    for (Picture& known : report_.pictures)
      if (known.name == picture.name && known.slice == picture.slice && known.planes.empty()) {
        known.planes = std::move(picture.planes);
        return;
      }
    report_.pictures.push_back(std::move(picture));
  }

  static void take_table(Table& table, const Array& a, const std::vector<std::string>& columns,
                         double t, std::int64_t step) {
    std::tie(table.x_name, table.y_name) = axes_of(columns);
    Frame frame = frame_of(columns, a.values);
    frame.time = t;
    frame.step = step;
    table.frames.push_back(std::move(frame));
  }

  void take_plane(Picture& picture, const Array& a, hid_t set, double t, std::int64_t step) const {
    Plane plane;
    plane.time = t;
    plane.step = step;
    plane.width = static_cast<int>(a.shape.back());
    plane.height = a.shape.size() == 2 ? static_cast<int>(a.shape[0]) : 1;
    if (plane.width == 0 || plane.height == 0) return;
    plane.values.assign(a.values.begin(), a.values.end());
    picture.x_low = -0.5 * plane.width * dx_, picture.x_high = 0.5 * plane.width * dx_;
    picture.y_low = -0.5 * plane.height * dx_, picture.y_high = 0.5 * plane.height * dx_;
    name_picture_axes(picture, set);
    picture.planes.push_back(shrink(plane, kLargestEdge));
  }

  /// "axes": paths of one or two datasets, the slower axis first: sites, or edges of bins.
  void name_picture_axes(Picture& picture, hid_t set) const {
    const std::string text = text_attribute(set, io::kAxesAttribute);
    std::vector<std::string> paths;
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t comma = std::min(text.find(", /", first), text.size());
      paths.push_back(text.substr(first, comma - first));  // names may hold commas of their own
      first = comma + 2;
    }
    if (paths.empty() || paths.size() > 2) return;
    const auto range = [&](const std::string& path, std::string& name, double& low, double& high) {
      const Handle axis = open_set(file_, path);
      if (axis < 0) return;
      const Array a = read_array(axis, path_);
      name = path.substr(path.find_last_of('/') + 1);
      if (a.values.size() < 2) return;
      // sites lie in the middle of their pixels; bins are given by their edges
      const double half = picture.slice ? 0.5 * (a.values[1] - a.values[0]) : 0;
      low = a.values.front() - half;
      high = a.values.back() + half;
    };
    if (paths.size() == 2) range(paths[0], picture.y_name, picture.y_low, picture.y_high);
    range(paths.back(), picture.x_name, picture.x_low, picture.x_high);
  }

  static Table line_of(const Picture& picture) {
    Table table;
    table.kind = Table::Kind::Profile;
    table.name = picture.name;
    table.x_name = picture.x_name;
    for (const Plane& plane : picture.planes) {
      Frame frame;
      frame.time = plane.time;
      frame.step = plane.step;
      for (int i = 0; i < plane.width; ++i) {
        frame.x.push_back(picture.x_low +
                          (i + 0.5) / plane.width * (picture.x_high - picture.x_low));
        frame.y.push_back(plane.values[static_cast<std::size_t>(i)]);
      }
      table.frames.push_back(std::move(frame));
    }
    return table;
  }

  Report& report_;
  fs::path path_;
  Handle file_;
  double dx_ = 1;
};

}  // namespace

void read_hdf5(Report& report, const fs::path& file, Origin origin) {
  if (origin == Origin::Unknown) {
    Report unused;
    const auto look = [&] {
      read_hdf5(unused, file, Origin::Ours);
      H5close();  // a heap that was damaged on the way may show only at the end
    };
    const ChildOutcome trial = in_child_process(look, {kMostBytes});
    if (trial.how == ChildOutcome::How::Threw) throw io::ResultsError(trial.what);
    if (trial.how == ChildOutcome::How::Died)
      fail(file, "damaged: the HDF5 library does not survive it (" + trial.what + ")");
  }
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  ResultsReader(report, file).read();
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

}  // namespace vphi::report

#else

namespace vphi::report {

void read_hdf5(Report&, const std::filesystem::path& file, Origin) {
  throw io::ResultsError(
      fmt::format("{} needs HDF5, which this build of vphi lacks", file.string()));
}

}  // namespace vphi::report

#endif
