// What the HDF5 library does at the end of the process.
#pragma once

namespace vphi::io {

/// The library closes no files at the end of this process: those of vphi are closed before, and one
/// that could not be closed, as on a full disk, would end the process by a signal. Before the first
/// file; for programs that use the library alone.
void leave_files_at_exit();

}  // namespace vphi::io
