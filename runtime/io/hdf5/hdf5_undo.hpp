// An HDF5 file driver on top of an UndoFile, so that everything that the library writes can be
// undone.
//
// The driver opens no file; it reads and writes the given UndoFile, which must outlive every HDF5
// file opened with it. Exceptions of the UndoFile do not pass through the library: the call of the
// library fails, and the reason is stored in `Hdf5Backing::trouble`.
#pragma once

#ifdef VPHI_HAVE_HDF5

#include <hdf5.h>

#include <string>

#include "runtime/io/files/undo_file.hpp"

namespace vphi::io {

struct Hdf5Backing {
  UndoFile file;
  std::string trouble = {};  ///< why the last call failed; empty: it succeeded
  /// Nothing more is read or written, and all calls succeed: a library that could not write must
  /// still be able to close its file, or it would try again when the process ends.
  bool given_up = false;
};

/// A file access property list for this backing; the caller closes it with H5Pclose. Negative where
/// the library refuses.
hid_t undo_access(Hdf5Backing& backing);

}  // namespace vphi::io

#endif
