#include "runtime/io/hdf5/hdf5_undo.hpp"

#ifdef VPHI_HAVE_HDF5

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <exception>
#include <memory>

namespace vphi::io {
namespace {

struct Opened {
  H5FD_t library;  // first: the library sees nothing else
  Hdf5Backing* backing = nullptr;
  haddr_t end_of_allocation = 0;
};

struct Access {
  Hdf5Backing* backing = nullptr;
};

Opened* of(H5FD_t* file) { return reinterpret_cast<Opened*>(file); }
const Opened* of(const H5FD_t* file) { return reinterpret_cast<const Opened*>(file); }

template <class Action>
herr_t guarded(Hdf5Backing& backing, const Action& action) {
  if (backing.given_up) return 0;
  try {
    action();
    return 0;
  } catch (const std::exception& error) {
    backing.trouble = error.what();
    return -1;
  }
}

H5FD_t* open(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* wanted = static_cast<const Access*>(H5Pget_driver_info(access));
  if (wanted == nullptr) return nullptr;
  auto file = std::make_unique<Opened>();
  file->library = {};
  file->backing = wanted->backing;
  if ((flags & H5F_ACC_TRUNC) != 0 &&
      guarded(*file->backing, [&] { file->backing->file.resize(0); }) < 0)
    return nullptr;
  return &file.release()->library;
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<Opened> last(of(file));
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  const auto *x = of(a)->backing, *y = of(b)->backing;
  return x < y ? -1 : x > y ? 1 : 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags == nullptr) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
#ifdef H5FD_FEAT_DEFAULT_VFD_COMPATIBLE
  *flags |= H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
#endif
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file)->end_of_allocation; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  of(file)->end_of_allocation = end;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file)->backing->file.size(); }

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t size, void* to) {
  auto& backing = *of(file)->backing;
  return guarded(backing, [&] { backing.file.read(at, {static_cast<std::byte*>(to), size}); });
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t size, const void* from) {
  auto& backing = *of(file)->backing;
  return guarded(backing, [&] {
    backing.file.write(at, {static_cast<const std::byte*>(from), size});
  });
}

herr_t flush(H5FD_t* file, hid_t, hbool_t) {
  auto& backing = *of(file)->backing;
  return guarded(backing, [&] { backing.file.commit(); });
}

/// The file ends where the library's allocations end.
herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  auto& backing = *of(file)->backing;
  return guarded(backing, [&] { backing.file.resize(of(file)->end_of_allocation); });
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(520);  // 256 to 511 are for registered drivers
#endif
  driver.name = "vphi_undo";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Access);
  driver.open = open;
  driver.close = close;
  driver.cmp = compare;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read;
  driver.write = write;
  driver.flush = flush;
  driver.truncate = truncate;
  constexpr H5FD_mem_t groups[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(groups), std::end(groups), driver.fl_map);
  return driver;
}

}  // namespace

hid_t undo_access(Hdf5Backing& backing) {
  static const H5FD_class_t driver = driver_class();  // the library keeps a pointer to it
  static const hid_t number = H5FDregister(&driver);
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  const Access access{&backing};
  if (list >= 0 && H5Pset_driver(list, number, &access) < 0) {
    H5Pclose(list);
    return -1;
  }
  return list;
}

}  // namespace vphi::io

#endif
