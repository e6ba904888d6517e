// Tables in HDF5 files, where the build has the library.
#include <fmt/format.h>

#include <filesystem>

#include "compiler/physics/table_file.hpp"

#ifdef VPHI_HAVE_HDF5
#include <hdf5.h>
#endif

namespace vphi::physics {

using Kind = TableError::Kind;

bool is_hdf5(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  return ending == ".h5" || ending == ".hdf5";
}

#ifdef VPHI_HAVE_HDF5

namespace {

/// A handle of the library, closed at its end.
struct Handle {
  hid_t id = -1;
  herr_t (*close)(hid_t) = nullptr;
  Handle(hid_t opened, herr_t (*closer)(hid_t)) : id(opened), close(closer) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id >= 0) close(id);
  }
};

constexpr hssize_t kMostNumbers = hssize_t{1} << 23;

/// Numbers of one set and its shape.
Hdf5Set numbers(hid_t file, const std::string& path, const std::string& name) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (set.id < 0) throw TableError(Kind::File, fmt::format("{} has no set `{}`", path, name));
  const Handle space(H5Dget_space(set.id), H5Sclose);
  const int dims = H5Sget_simple_extent_ndims(space.id);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id);
  const Handle type(H5Dget_type(set.id), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.id);
  if (dims < 1 || dims > 2 || count < 1 || count > kMostNumbers ||
      (kind != H5T_FLOAT && kind != H5T_INTEGER))
    throw TableError(
        Kind::File,
        fmt::format("{}:{} is no table of numbers in one or two dimensions", path, name));
  hsize_t shape[2] = {};
  H5Sget_simple_extent_dims(space.id, shape, nullptr);
  Hdf5Set out;
  out.shape.assign(shape, shape + dims);
  out.values.resize(static_cast<std::size_t>(count));
  if (H5Dread(set.id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data()) < 0)
    throw TableError(Kind::File, fmt::format("{}:{} cannot be read", path, name));
  return out;
}

/// The file, open; refuses where it cannot be or where no set in it is named.
hid_t opened(const std::string& path, const std::string& set) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // failures are reported by our own message
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0)
    throw TableError(Kind::File, fmt::format("{} is not there or is no HDF5 file", path));
  if (!set.empty()) return file;
  H5Fclose(file);
  throw TableError(Kind::File, fmt::format("{}: which set? write \"file.h5:set\"", path));
}

std::pair<std::size_t, std::size_t> shape_of(hid_t file, const std::string& path,
                                             const std::string& name) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (set.id < 0) throw TableError(Kind::File, fmt::format("{} has no set `{}`", path, name));
  const Handle space(H5Dget_space(set.id), H5Sclose);
  const int dims = H5Sget_simple_extent_ndims(space.id);
  if (dims < 1 || dims > 2)
    throw TableError(Kind::File, fmt::format("{}:{} has {} dimensions", path, name, dims));
  hsize_t shape[2] = {1, 1};
  H5Sget_simple_extent_dims(space.id, shape, nullptr);
  return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])};
}

/// Text of the attribute `axes`; empty where there is none.
std::string axes_of(hid_t file, const std::string& name) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (H5Aexists(set.id, "axes") <= 0) return {};
  const Handle attribute(H5Aopen(set.id, "axes", H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id), H5Tclose);
  if (H5Tget_class(type.id) != H5T_STRING) return {};
  if (H5Tis_variable_str(type.id) > 0) {
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text.id, H5T_VARIABLE);
    H5Tset_cset(text.id, H5Tget_cset(type.id));
    char* buffer = nullptr;
    if (H5Aread(attribute.id, text.id, &buffer) < 0 || buffer == nullptr) return {};
    std::string out = buffer;
    H5free_memory(buffer);
    return out;
  }
  std::string out(H5Tget_size(type.id), '\0');
  if (H5Aread(attribute.id, type.id, out.data()) < 0) return {};
  return out.substr(0, out.find('\0'));
}

}  // namespace

std::pair<std::size_t, std::size_t> shape_of_hdf5(const std::string& path, const std::string& set) {
  const Handle file(opened(path, set), H5Fclose);
  return shape_of(file.id, path, set);
}

std::vector<std::size_t> dimensions_of_hdf5(const std::string& path, const std::string& set) {
  const Handle file(opened(path, set), H5Fclose);
  const Handle found(H5Dopen2(file.id, set.c_str(), H5P_DEFAULT), H5Dclose);
  if (found.id < 0) throw TableError(Kind::File, fmt::format("{} has no set `{}`", path, set));
  const Handle space(H5Dget_space(found.id), H5Sclose);
  const int dims = H5Sget_simple_extent_ndims(space.id);
  constexpr int kMost = 8;
  hsize_t shape[kMost] = {};
  if (dims < 1 || dims > kMost)
    throw TableError(Kind::File, fmt::format("{}:{} has {} dimensions", path, set, dims));
  H5Sget_simple_extent_dims(space.id, shape, nullptr);
  return {shape, shape + dims};
}

Hdf5Set read_hdf5(const std::string& path, const std::string& set) {
  const Handle file(opened(path, set), H5Fclose);
  Hdf5Set out = numbers(file.id, path, set);
  std::string axes = axes_of(file.id, set);
  while (!axes.empty()) {
    const std::size_t comma = axes.find(',');
    std::string name = axes.substr(0, comma);
    name.erase(0, name.find_first_not_of(' '));
    out.axes.push_back(numbers(file.id, path, name).values);
    axes.erase(0, comma == std::string::npos ? axes.size() : comma + 1);
  }
  return out;
}

#else

std::vector<std::size_t> dimensions_of_hdf5(const std::string& path, const std::string&) {
  throw TableError(Kind::File,
                   fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", path));
}

std::pair<std::size_t, std::size_t> shape_of_hdf5(const std::string& path, const std::string&) {
  throw TableError(Kind::File,
                   fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", path));
}

Hdf5Set read_hdf5(const std::string& path, const std::string&) {
  throw TableError(Kind::File,
                   fmt::format("{}: this build reads no HDF5 (apt-get install libhdf5-dev)", path));
}

#endif

}  // namespace vphi::physics
