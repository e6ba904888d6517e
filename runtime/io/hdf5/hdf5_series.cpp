#ifdef VPHI_HAVE_HDF5

#include "runtime/io/hdf5/hdf5_series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "program/hdf5_read.hpp"
#include "runtime/io/hdf5/hdf5_scales.hpp"
#include "runtime/io/result_groups.hpp"

namespace vphi::io {

namespace {

constexpr hsize_t kChunkBytes = 1 << 18, kChunkRows = 512;
constexpr std::size_t kWaiting = 1 << 14;  ///< numbers that are kept back between writes

/// Runs at the end of the scope.
template <class Close>
struct Closing {
  Close close;
  ~Closing() { close(); }
};
template <class Close>
Closing(Close) -> Closing<Close>;

hid_t opened(hid_t id, const char* doing) {
  check_written(id < 0 ? -1 : 0, doing);
  return id;
}

std::string in(const char* group, const std::string& link) {
  return fmt::format("/{}/{}", group, link);
}

}  // namespace

Hdf5Series::Hdf5Series(hid_t file, const program::Program& program, const std::string& name)
    : file_(file), program_(program) {
  for (std::size_t o = 0; o < program.outputs.size(); ++o)
    if (program.outputs[o].file == name)
      for (const auto& scalar : program.outputs[o].scalars) {
        Writers& writers = writers_[scalar.name];
        if (writers.empty() || writers.back() != o) writers.push_back(o);
      }
}

bool Hdf5Series::owns(const std::string& group) {
  return group == kAxesGroup || group == kSeriesGroup || group == kErrorsGroup ||
         group == kPlotsGroup;
}

Hdf5Series::~Hdf5Series() {
  for (auto& [name, one] : series_)
    for (const hid_t set : {one.values, one.errors})
      if (set >= 0) H5Dclose(set);
  for (const Clock& clock : clocks_)
    for (const hid_t set : {clock.times, clock.steps})
      if (set >= 0) H5Dclose(set);
}

// ---- datasets -----------------------------------------------------------------------------------

/// /axes/NAME, made at its first use; its path.
std::string Hdf5Series::axis(std::size_t number) {
  const program::Axis& axis = program_.axes[number];
  const std::string path = in(kAxesGroup, link_name(axis.name));
  if (there_is(file_, path)) return path;
  const hid_t create = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(create, 1);
  const hsize_t size = axis.values.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t set =
      H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE, space, create, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space), H5Pclose(create);
  opened(set, "making an axis");
  const Closing done{[&] { H5Dclose(set); }};
  check_written(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, axis.values.data()),
                "writing an axis");
  make_scale(set, axis.name);
  text_attribute(set, "ensemble", axis.ensemble ? "yes" : "no");
  return path;
}

/// A dataset of any number of rows.
hid_t Hdf5Series::growing(const std::string& path, const std::vector<hsize_t>& row, hid_t type) {
  std::vector<hsize_t> now{0}, most{H5S_UNLIMITED}, chunk{1};
  hsize_t bytes = H5Tget_size(type);
  for (const hsize_t n : row) now.push_back(n), most.push_back(n), bytes *= n;
  for (const hsize_t n : row) chunk.push_back(std::max<hsize_t>(1, n));
  // an axis of many values is cut, slowest first
  for (std::size_t k = 1; k < chunk.size() && bytes > kChunkBytes * 16; ++k) {
    const hsize_t pieces = std::min(chunk[k], bytes / (kChunkBytes * 16) + 1);
    bytes /= pieces;
    chunk[k] = (chunk[k] + pieces - 1) / pieces;
  }
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / std::max<hsize_t>(1, bytes), 1, kChunkRows);
  const hid_t link = H5Pcreate(H5P_LINK_CREATE), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(link, 1);
  H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_fletcher32(layout);
  const hid_t space = H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data());
  const hid_t set = H5Dcreate2(file_, path.c_str(), type, space, link, layout, H5P_DEFAULT);
  H5Sclose(space), H5Pclose(layout), H5Pclose(link);
  return opened(set, "making a dataset");
}

/// The rows of series that these outputs write: known, or new ones under a name that is free.
std::size_t Hdf5Series::clock(const Writers& writers) {
  const auto known = clock_of_.find(writers);
  if (known != clock_of_.end()) return known->second;
  Clock clock;
  for (int number = 1; clock.times < 0; ++number) {
    const std::string ending = number == 1 ? "" : fmt::format("_{}", number);
    const std::string time = "time" + ending, step = "step" + ending;
    clock.link = in(kSeriesGroup, time), clock.step_link = in(kSeriesGroup, step);
    const bool wanted = std::ranges::any_of(writers_, [&](const auto& w) {
      return link_name(w.first) == time || link_name(w.first) == step;
    });
    if (wanted || there_is(file_, clock.link) || there_is(file_, clock.step_link)) continue;
    clock.times = growing(clock.link, {}, H5T_IEEE_F64LE);
    make_scale(clock.times, time);
    text_attribute(clock.times, "units", program_.time_unit);
    clock.steps = growing(clock.step_link, {}, H5T_STD_I64LE);
    text_attribute(clock.steps, "units", "1");
    attach_scales(file_, clock.steps, std::array{clock.link}, std::array{time});
  }
  clocks_.push_back(std::move(clock));
  return clock_of_[writers] = clocks_.size() - 1;
}

void Hdf5Series::create(Series& one, const Swept& value, const std::string& link) {
  const auto writers = writers_.find(value.name);
  one.clock = clock(writers == writers_.end() ? Writers{} : writers->second);
  const Clock& rows = clocks_[one.clock];
  std::vector<std::string> scales{rows.link}, labels{rows.link.substr(rows.link.rfind('/') + 1)};
  for (const int a : value.axes) {
    scales.push_back(axis(static_cast<std::size_t>(a)));
    labels.push_back(program_.axes[static_cast<std::size_t>(a)].name);
  }
  const auto make = [&](const char* group) {
    const hid_t set = growing(in(group, link), one.row, H5T_IEEE_F64LE);
    for (const std::string& scale : scales) link_scale(file_, scale, std::string("/") + group);
    attach_scales(file_, set, scales, labels);
    text_attribute(set, "name", value.name);
    text_attribute(set, "units", program_.unit_of(value.name));
    text_attribute(set, kAxesAttribute, fmt::format("{}", fmt::join(scales, ", ")));
    text_attribute(set, "times", rows.link);
    text_attribute(set, "steps", rows.step_link);
    return set;
  };
  one.values = make(kSeriesGroup);
  if (!value.errors.empty()) one.errors = make(kErrorsGroup);
}

/// Opens a series that an earlier part of the run has written.
void Hdf5Series::open(Series& one, const std::string& link, bool errors) {
  const auto reopened = [&](const std::string& path) {
    return opened(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), "opening a series");
  };
  one.values = reopened(in(kSeriesGroup, link));
  if (errors) one.errors = reopened(in(kErrorsGroup, link));
  Clock clock;
  clock.link = hdf5::text_attribute(one.values, "times");
  clock.step_link = hdf5::text_attribute(one.values, "steps");
  for (one.clock = 0; one.clock < clocks_.size(); ++one.clock)
    if (clocks_[one.clock].link == clock.link) return;
  clock.times = reopened(clock.link), clock.steps = reopened(clock.step_link);
  const hid_t space = H5Dget_space(clock.steps);
  const Closing done{[&] { H5Sclose(space); }};
  H5Sget_simple_extent_dims(space, &clock.count, nullptr);
  if (clock.count > 0) {
    const hsize_t start = clock.count - 1, number = 1;
    const hid_t target = H5Screate_simple(1, &number, nullptr);
    const Closing read{[&] { H5Sclose(target); }};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &number, nullptr);
    check_written(
        H5Dread(clock.steps, H5T_NATIVE_INT64, target, space, H5P_DEFAULT, &clock.last_step),
        "reading a series");
  }
  clocks_.push_back(std::move(clock));
}

Hdf5Series::Series& Hdf5Series::series(const Swept& value) {
  const auto [place, fresh] = series_.try_emplace(value.name);
  Series& one = place->second;
  if (!fresh) return one;
  for (const int a : value.axes) {
    one.row.push_back(program_.axes[static_cast<std::size_t>(a)].values.size());
    one.width *= one.row.back();
  }
  const std::string link = link_name(value.name);
  if (there_is(file_, in(kSeriesGroup, link)))
    open(one, link, !value.errors.empty());
  else
    create(one, value, link);
  return one;
}

// ---- rows ---------------------------------------------------------------------------------------

void Hdf5Series::add(const Moment& at, std::span<const Swept> values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const Swept& value : values) {
    Series& one = series(value);
    Clock& rows = clocks_[one.clock];
    if (at.step > rows.last_step) {
      rows.last_step = at.step;
      rows.new_times.push_back(at.time), rows.new_steps.push_back(at.step);
    }
    // in two clauses, or written before the run was cut off
    if (at.step < rows.last_step || rows.new_times.empty()) continue;
    const std::size_t before = (rows.new_times.size() - 1) * one.width;
    if (one.new_values.size() > before) continue;
    waiting_ += 1 + one.width;
    one.new_values.resize(before, kNone);
    one.new_values.insert(one.new_values.end(), value.values.begin(), value.values.end());
    if (one.errors < 0) continue;
    one.new_errors.resize(before, kNone);
    one.new_errors.insert(one.new_errors.end(), value.errors.begin(), value.errors.end());
  }
  if (waiting_ >= kWaiting) flush();
}

void Hdf5Series::append(hid_t set, hsize_t count, const std::vector<hsize_t>& row, hid_t type,
                        const void* data, hsize_t rows) {
  std::vector<hsize_t> size{count + rows}, start{count}, part{rows};
  for (const hsize_t n : row) size.push_back(n), start.push_back(0), part.push_back(n);
  check_written(H5Dset_extent(set, size.data()), "growing a series");
  const hid_t space = H5Dget_space(set);
  const hid_t memory = H5Screate_simple(static_cast<int>(part.size()), part.data(), nullptr);
  const Closing done{[&] { H5Sclose(memory), H5Sclose(space); }};
  check_written(
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr),
      "choosing a row");
  check_written(H5Dwrite(set, type, memory, space, H5P_DEFAULT, data), "writing a series");
}

void Hdf5Series::flush() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (auto& [name, one] : series_) {
    const Clock& rows = clocks_[one.clock];
    const std::size_t count = rows.new_times.size();
    if (count == 0) continue;
    // a series that has no value for a row that others share has NaN there
    const auto put = [&](hid_t set, std::vector<double>& values) {
      if (set < 0) return;
      values.resize(count * one.width, kNone);
      append(set, rows.count, one.row, H5T_NATIVE_DOUBLE, values.data(), count);
      values.clear();
    };
    put(one.values, one.new_values), put(one.errors, one.new_errors);
  }
  for (Clock& rows : clocks_) {
    if (rows.new_times.empty()) continue;
    append(rows.times, rows.count, {}, H5T_NATIVE_DOUBLE, rows.new_times.data(),
           rows.new_times.size());
    append(rows.steps, rows.count, {}, H5T_NATIVE_INT64, rows.new_steps.data(),
           rows.new_steps.size());
    rows.count += rows.new_times.size();
    rows.new_times.clear(), rows.new_steps.clear();
  }
  waiting_ = 0;
}

void Hdf5Series::plot(const std::string& name, const std::string& against,
                      std::span<const double> x, std::span<const double> y,
                      std::span<const double> error) {
  const std::string path = in(kPlotsGroup, link_name(name));
  if (there_is(file_, path)) H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
  const std::size_t columns = error.empty() ? 2 : 3;
  std::vector<double> table;
  for (std::size_t i = 0; i < x.size(); ++i) {
    table.insert(table.end(), {x[i], y[i]});
    if (!error.empty()) table.push_back(error[i]);
  }
  const std::array<hsize_t, 2> shape{x.size(), columns};
  const hid_t link = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(link, 1);
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
  const hid_t set =
      H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE, space, link, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space), H5Pclose(link);
  opened(set, "making a plot");
  const Closing done{[&] { H5Dclose(set); }};
  check_written(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table.data()),
                "writing a plot");
  text_attribute(set, "columns", against + (error.empty() ? ", y" : ", y, error"));
  text_attribute(set, "against", against);
  text_attribute(set, "name", name);
  text_attribute(set, "units", program_.unit_of(name));
}

}  // namespace vphi::io

#endif
