// Tables in HDF5 files, where the build has the library.
#include <fmt/format.h>

#include <filesystem>

#include "compiler/physics/tables/table_file.hpp"

#ifdef VPHI_HAVE_HDF5
#include "program/hdf5_read.hpp"
#endif

namespace vphi::physics {

using Kind = TableError::Kind;

bool is_hdf5(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  return ending == ".h5" || ending == ".hdf5";
}

#ifdef VPHI_HAVE_HDF5

namespace {

using hdf5::Handle;

constexpr hsize_t kMostNumbers = hsize_t{1} << 23;

[[noreturn]] void fail(const std::string& message) { throw TableError(Kind::File, message); }

/// A file that is open and a set of it.
class Opened {
 public:
  Opened(const std::string& path, const std::string& name)
      : path_(path), file_(hdf5::open_to_read(path)) {
    if (file_ < 0) fail(hdf5::why_not_opened(path));
    if (name.empty()) fail(fmt::format("{}: which set? write \"file.h5:set\"", path));
    set_ = find(name);
  }
  hid_t set() const { return set_; }

  std::vector<hsize_t> shape(int most) const {
    const auto shape = hdf5::shape_of(set_);
    const auto dims = shape ? static_cast<int>(shape->size()) : 0;
    if (dims < 1 || dims > most) fail(fmt::format("{} has {} dimensions", shown_, dims));
    return *shape;
  }
  /// Without values where there are more than a table may have.
  Hdf5Set numbers() const { return numbers_of(set_, shown_); }
  std::vector<double> numbers(const std::string& name) const {
    const Handle set = hdf5::open_set(file_, name);
    if (set < 0) fail(fmt::format("{} has no set `{}`; {}", path_, name, hdf5::sets_of(file_)));
    return numbers_of(set, fmt::format("{}:{}", path_, name)).values;
  }

 private:
  Handle find(const std::string& name) {
    Handle set = hdf5::open_set(file_, name);
    if (set < 0) fail(fmt::format("{} has no set `{}`; {}", path_, name, hdf5::sets_of(file_)));
    shown_ = fmt::format("{}:{}", path_, name);
    return set;
  }

  static Hdf5Set numbers_of(hid_t set, const std::string& shown) {
    const auto shape = hdf5::shape_of(set);
    const Handle type(H5Dget_type(set), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (!shape || (kind != H5T_FLOAT && kind != H5T_INTEGER))
      fail(fmt::format("{} holds no real numbers", shown));
    if (shape->empty() || shape->size() > 2)
      fail(fmt::format("{} has {} dimensions, a table one or two", shown, shape->size()));
    const auto count = hdf5::count_of(*shape, kMostNumbers);
    Hdf5Set out;
    out.shape.assign(shape->begin(), shape->end());
    if (!count) return out;
    if (*count == 0) fail(fmt::format("{} is empty", shown));
    out.values.resize(*count);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data()) < 0)
      fail(fmt::format("{} cannot be read", shown));
    return out;
  }

  std::string path_, shown_;
  Handle file_, set_;
};

}  // namespace

std::pair<std::size_t, std::size_t> shape_of_hdf5(const std::string& path, const std::string& set) {
  const auto read = [&] { return Opened(path, set).shape(2); };
  const auto shape = hdf5::read_stranger(path, read, fail);
  return {shape[0], shape.size() > 1 ? shape[1] : 1};
}

Hdf5Shape dimensions_of_hdf5(const std::string& path, const std::string& set) {
  constexpr int kMostAxes = 12;
  const auto read = [&] {
    const Opened file(path, set);
    const auto shape = file.shape(kMostAxes);
    const auto kind = hdf5::number_kind(file.set());
    if (!kind) fail(fmt::format("{}:{} holds no numbers", path, set));
    return Hdf5Shape{{shape.begin(), shape.end()}, *kind == hdf5::NumberKind::Complex};
  };
  return hdf5::read_stranger(path, read, fail);
}

Hdf5Set read_hdf5(const std::string& path, const std::string& set) {
  const auto read = [&] {
    const Opened file(path, set);
    Hdf5Set out = file.numbers();
    std::string axes = hdf5::text_attribute(file.set(), "axes");
    while (!axes.empty()) {
      const std::size_t comma = axes.find(',');
      std::string name = axes.substr(0, comma);
      name.erase(0, name.find_first_not_of(' '));
      out.axes.push_back(file.numbers(name));
      axes.erase(0, comma == std::string::npos ? axes.size() : comma + 1);
    }
    return out;
  };
  Hdf5Set found = hdf5::read_stranger(path, read, fail);
  if (found.values.empty())
    throw TableError(Kind::Size, fmt::format("{}:{} has more than 2^23 numbers", path, set));
  return found;
}

#else

Hdf5Shape dimensions_of_hdf5(const std::string& path, const std::string&) {
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
