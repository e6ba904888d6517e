#ifdef VPHI_HAVE_HDF5

#include "runtime/io/hdf5_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vphi::io {

namespace {

constexpr hsize_t kChunkBytes = 1 << 18;

void check(herr_t status, const char* doing) {
  if (status < 0) throw ResultsError(fmt::format("HDF5 failed: {} (is the disk full?)", doing));
}

/// Runs at the end of the scope.
template <class Close>
struct Closing {
  Close close;
  ~Closing() { close(); }
};
template <class Close>
Closing(Close) -> Closing<Close>;

hid_t opened(hid_t id, const char* doing) {
  check(id < 0 ? -1 : 0, doing);
  return id;
}

void text_attribute(hid_t where, const char* name, std::span<const std::string> texts,
                    bool fixed = false) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, fixed ? texts[0].size() + 1 : H5T_VARIABLE);
  if (!fixed) H5Tset_cset(type, H5T_CSET_UTF8);
  const hsize_t count = texts.size();
  const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
  const hid_t a = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const herr_t status =
      H5Awrite(a, type, fixed ? static_cast<const void*>(pointers[0]) : pointers.data());
  H5Aclose(a), H5Sclose(space), H5Tclose(type);
  check(status, "writing an attribute");
}

void text_attribute(hid_t where, const char* name, const std::string& text, bool fixed = false) {
  text_attribute(where, name, std::span(&text, 1), fixed);
}

/// What makes a dataset a dimension scale; its texts have fixed length in the specification.
void make_scale(hid_t set, const std::string& name) {
  text_attribute(set, "CLASS", "DIMENSION_SCALE", true);
  text_attribute(set, "NAME", name, true);
}

/// DIMENSION_LIST: for each dimension the scales that belong to it.
void attach(hid_t file, hid_t set, std::span<const std::string> scales,
            std::span<const std::string> labels) {
  std::vector<hobj_ref_t> references(scales.size());
  std::vector<hvl_t> lists(scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    check(H5Rcreate(&references[i], file, scales[i].c_str(), H5R_OBJECT, -1), "naming an axis");
    lists[i] = {1, &references[i]};
  }
  const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const hsize_t count = scales.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t a = H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const herr_t status = H5Awrite(a, type, lists.data());
  H5Aclose(a), H5Sclose(space), H5Tclose(type);
  check(status, "attaching axes");
  text_attribute(set, "DIMENSION_LABELS", labels);
}

}  // namespace

bool Hdf5Sweep::owns(const std::string& group) {
  return group == "axes" || group == "errors" || group == "times" || group == "steps" ||
         group == "plots";
}

Hdf5Sweep::~Hdf5Sweep() {
  for (auto& [name, rows] : rows_)
    for (const hid_t set : {rows.series, rows.errors, rows.times, rows.steps})
      if (set >= 0) H5Dclose(set);
}

/// /axes/NAME, made at its first use.
hid_t Hdf5Sweep::axis(std::size_t number) {
  const program::Axis& axis = program_.axes[number];
  const std::string path = "/axes/" + link_name(axis.name);
  const bool group = H5Lexists(file_, "/axes", H5P_DEFAULT) > 0;
  if (group && H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0)
    return opened(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), "opening an axis");
  const hid_t create = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(create, 1);
  const hsize_t size = axis.values.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t set =
      H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE, space, create, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space), H5Pclose(create);
  opened(set, "making an axis");
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, axis.values.data()),
        "writing an axis");
  make_scale(set, axis.name);
  text_attribute(set, "ensemble", axis.ensemble ? "yes" : "no");
  return set;
}

/// A dataset of any number of rows.
hid_t Hdf5Sweep::growing(const std::string& path, const std::vector<hsize_t>& row, hid_t type) {
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
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / std::max<hsize_t>(1, bytes), 1, 512);
  const hid_t link = H5Pcreate(H5P_LINK_CREATE), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(link, 1);
  H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
  const hid_t space = H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data());
  const hid_t set = H5Dcreate2(file_, path.c_str(), type, space, link, layout, H5P_DEFAULT);
  H5Sclose(space), H5Pclose(layout), H5Pclose(link);
  return opened(set, "making a dataset");
}

Hdf5Sweep::Rows& Hdf5Sweep::rows(const Swept& value) {
  const auto [place, fresh] = rows_.try_emplace(value.name);
  Rows& rows = place->second;
  if (!fresh) return rows;
  const std::string name = link_name(value.name);
  const auto path = [&](const char* group) { return fmt::format("/{}/{}", group, name); };
  const bool there = H5Lexists(file_, "/series", H5P_DEFAULT) > 0 &&
                     H5Lexists(file_, path("series").c_str(), H5P_DEFAULT) > 0;
  if (there) {
    const auto open = [&](const char* group) {
      return opened(H5Dopen2(file_, path(group).c_str(), H5P_DEFAULT), "opening a series");
    };
    rows.series = open("series"), rows.times = open("times"), rows.steps = open("steps");
    if (!value.errors.empty()) rows.errors = open("errors");
    const hid_t space = H5Dget_space(rows.steps);
    H5Sget_simple_extent_dims(space, &rows.count, nullptr);
    if (rows.count > 0) {
      const hsize_t start = rows.count - 1, one = 1;
      const hid_t target = H5Screate_simple(1, &one, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &one, nullptr);
      check(H5Dread(rows.steps, H5T_NATIVE_INT64, target, space, H5P_DEFAULT, &rows.last_step),
            "reading a series");
      H5Sclose(target);
    }
    H5Sclose(space);
    return rows;
  }
  std::vector<hsize_t> shape;
  std::vector<std::string> scales{path("times")}, labels{"t"};
  for (const int a : value.axes) {
    const auto k = static_cast<std::size_t>(a);
    H5Dclose(axis(k));
    shape.push_back(program_.axes[k].values.size());
    scales.push_back("/axes/" + link_name(program_.axes[k].name));
    labels.push_back(program_.axes[k].name);
  }
  rows.times = growing(path("times"), {}, H5T_IEEE_F64LE);
  make_scale(rows.times, "t");
  rows.steps = growing(path("steps"), {}, H5T_STD_I64LE);
  rows.series = growing(path("series"), shape, H5T_IEEE_F64LE);
  attach(file_, rows.series, scales, labels);
  text_attribute(rows.series, "name", value.name);
  if (!value.errors.empty()) {
    rows.errors = growing(path("errors"), shape, H5T_IEEE_F64LE);
    attach(file_, rows.errors, scales, labels);
    text_attribute(rows.errors, "name", value.name);
  }
  return rows;
}

void Hdf5Sweep::add(const Moment& at, std::span<const Swept> values) {
  for (const Swept& value : values) {
    Rows& r = rows(value);
    if (at.step <= r.last_step) continue;  // in two clauses, or written before the run was cut off
    r.last_step = at.step;
    std::vector<hsize_t> shape;
    for (const int a : value.axes)
      shape.push_back(program_.axes[static_cast<std::size_t>(a)].values.size());
    const auto append = [&](hid_t set, const std::vector<hsize_t>& row, hid_t type,
                            const void* data) {
      std::vector<hsize_t> size{r.count + 1}, start{r.count}, count{1};
      for (const hsize_t n : row) size.push_back(n), start.push_back(0), count.push_back(n);
      check(H5Dset_extent(set, size.data()), "growing a series");
      const hid_t space = H5Dget_space(set);
      const hid_t memory = H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr);
      const Closing done{[&] { H5Sclose(memory), H5Sclose(space); }};
      check(
          H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          "choosing a row");
      check(H5Dwrite(set, type, memory, space, H5P_DEFAULT, data), "writing a series");
    };
    append(r.series, shape, H5T_NATIVE_DOUBLE, value.values.data());
    if (r.errors >= 0 && !value.errors.empty())
      append(r.errors, shape, H5T_NATIVE_DOUBLE, value.errors.data());
    append(r.times, {}, H5T_NATIVE_DOUBLE, &at.time);
    append(r.steps, {}, H5T_NATIVE_INT64, &at.step);
    ++r.count;
  }
}

void Hdf5Sweep::plot(const std::string& name, const std::string& against, std::span<const double> x,
                     std::span<const double> y, std::span<const double> error) {
  const std::string path = "/plots/" + link_name(name);
  if (H5Lexists(file_, "/plots", H5P_DEFAULT) > 0 &&
      H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0)
    H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
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
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table.data()),
        "writing a plot");
  text_attribute(set, "columns", against + (error.empty() ? ", y" : ", y, error"));
  text_attribute(set, "against", against);
  text_attribute(set, "name", name);
}

}  // namespace vphi::io

#endif
