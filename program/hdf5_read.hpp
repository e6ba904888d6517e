// Functions for reading HDF5: handles that close themselves, attributes, shapes, kinds of numbers.
// Files of unknown origin are read in a child process first (in_child_process.hpp). Only sources
// that are built with libhdf5 include this header.
//
// An id below 0 means that the library could not open the object: callers check for it and report
// the error. The library's own messages are turned off (`quiet`).
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/in_child_process.hpp"

namespace vphi::hdf5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_), std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

inline void quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

inline Handle open_to_read(const std::string& path) {
  quiet();
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
}

/// What to say of a file that `open_to_read` has not opened.
inline std::string why_not_opened(const std::string& path) {
  return std::filesystem::exists(path) ? path + " is no HDF5 file, or a damaged one"
                                       : path + " is not there";
}

inline Handle open_set(hid_t where, const std::string& name) {
  return {H5Dopen2(where, name.c_str(), H5P_DEFAULT), H5Dclose};
}

/// Extents of a data set, slowest axis first; nothing where it has no shape. A single number has no
/// axes.
inline std::optional<std::vector<hsize_t>> shape_of(hid_t set) {
  const Handle space(H5Dget_space(set), H5Sclose);
  const int dims = H5Sget_simple_extent_ndims(space);
  if (dims < 0) return std::nullopt;
  std::vector<hsize_t> shape(static_cast<std::size_t>(dims));
  if (dims > 0 && H5Sget_simple_extent_dims(space, shape.data(), nullptr) < 0) return std::nullopt;
  return shape;
}

/// How many numbers a shape holds; nothing where it is more than `most`.
inline std::optional<std::size_t> count_of(const std::vector<hsize_t>& shape, hsize_t most) {
  if (std::ranges::find(shape, hsize_t{0}) != shape.end()) return 0;
  hsize_t count = 1;
  for (const hsize_t n : shape) {
    if (count > most / n) return std::nullopt;
    count *= n;
  }
  return count;
}

/// An attribute that is a list of texts, of fixed or variable length; empty where it is missing.
inline std::vector<std::string> texts_attribute(hid_t where, const char* name) {
  constexpr hssize_t kMost = 32;
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  if (where < 0 || H5Aexists(where, name) <= 0) return {};
  const Handle a(H5Aopen(where, name, H5P_DEFAULT), H5Aclose), type(H5Aget_type(a), H5Tclose);
  const Handle space(H5Aget_space(a), H5Sclose);
  const auto count = H5Sget_simple_extent_npoints(space);
  if (count <= 0 || count > kMost || H5Tget_class(type) != H5T_STRING) return {};
  std::vector<std::string> texts;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
    if (H5Aread(a, type, pointers.data()) < 0) return {};
    for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > kLongest) return {};
  std::string all(size * static_cast<std::size_t>(count), '\0');
  if (H5Aread(a, type, all.data()) < 0) return {};
  for (std::size_t at = 0; at < all.size(); at += size) {
    std::string text = all.substr(at, size);
    text.resize(std::min(text.size(), text.find('\0')));
    texts.push_back(std::move(text));
  }
  return texts;
}

enum class NumberKind { Real, Complex };

/// The kind of the numbers in a data set. Complex numbers are pairs of floating-point numbers, as
/// h5py writes them. Nothing for any other type.
inline std::optional<NumberKind> number_kind(hid_t set) {
  const Handle type(H5Dget_type(set), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_FLOAT || kind == H5T_INTEGER || kind == H5T_ENUM) return NumberKind::Real;
  const bool pair = kind == H5T_COMPOUND && H5Tget_nmembers(type) == 2 &&
                    H5Tget_member_class(type, 0) == H5T_FLOAT &&
                    H5Tget_member_class(type, 1) == H5T_FLOAT;
  return pair ? std::optional(NumberKind::Complex) : std::nullopt;
}

/// The memory type that reads one member of complex numbers as f64: 0 the real part, 1 the
/// imaginary part.
inline Handle member_type(hid_t set, unsigned member) {
  const Handle stored(H5Dget_type(set), H5Tclose);
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(double)), H5Tclose);
  char* name = H5Tget_member_name(stored, member);
  if (name != nullptr) H5Tinsert(type, name, 0, H5T_NATIVE_DOUBLE);
  H5free_memory(name);
  return type;
}

/// The data sets of a file as a phrase for messages: "it has `a`, `b` and 12 others".
inline std::string sets_of(hid_t file) {
  constexpr std::size_t kShown = 6;
  std::vector<std::string> names;
  const auto see = [](hid_t, const char* name, const H5O_info_t* about, void* to) -> herr_t {
    if (about->type == H5O_TYPE_DATASET)
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
#if H5_VERSION_GE(1, 12, 0)
  H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, see, &names, H5O_INFO_BASIC);
#else
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, see, &names);
#endif
  if (names.empty()) return "it has none";
  std::string text = "it has ";
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
    text += (i == 0 ? "`/" : ", `/") + names[i] + "`";
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " others";
  return text;
}

/// A text attribute; empty where it is missing.
inline std::string text_attribute(hid_t where, const char* name) {
  auto texts = texts_attribute(where, name);
  return texts.size() == 1 ? std::move(texts[0]) : std::string();
}

template <class T>
std::optional<T> number_attribute(hid_t where, const char* name, hid_t type) {
  if (where < 0 || H5Aexists(where, name) <= 0) return std::nullopt;
  const Handle a(H5Aopen(where, name, H5P_DEFAULT), H5Aclose), space(H5Aget_space(a), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) != 1) return std::nullopt;
  T value{};
  if (H5Aread(a, type, &value) < 0) return std::nullopt;
  return value;
}

/// The result of `read()` on the file at `path`, which is first called in a child process. Where
/// the child dies or throws, `fail(message)` is called; it must throw.
template <class Read, class Fail>
auto read_stranger(const std::string& path, const Read& read, const Fail& fail)
    -> decltype(read()) {
  // Room for all that the file can hold, packed as it may be, and more than once.
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  ChildLimits limits;
  if (!unknown) limits.bytes = (std::size_t{2} << 30) + 16 * static_cast<std::size_t>(size);
  const auto look = [&] {
    read();
    H5garbage_collect();  // a heap that was damaged on the way may show only here
  };
  const ChildOutcome trial = in_child_process(look, limits);
  if (trial.how == ChildOutcome::How::Died)
    fail(path + " is damaged: the HDF5 library does not survive it (" + trial.what + ")");
  if (trial.how == ChildOutcome::How::Threw) fail(trial.what);
  return read();
}

}  // namespace vphi::hdf5
