// A handle of the HDF5 library for readers that look at `id` themselves: closed at its end. Only
// for files that are built with the library.
#pragma once

#include <hdf5.h>

namespace vphi::io {

/// `id` is negative where the library could not open what was asked for.
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

}  // namespace vphi::io
