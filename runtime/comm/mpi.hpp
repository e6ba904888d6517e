// Ranks that are processes, started by mpirun or srun.
//
// MPI is in a library of its own (mpi_plugin/plugin.hpp), which is opened only in a process that a
// launcher has started among others. The Comm belongs to the thread that has opened it. Its end
// finalises MPI, unless other code of the process has initialised it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/comm/comm.hpp"

namespace vphi::comm {

/// What a launcher's environment says; nothing where there is no launcher, or one process alone.
struct Launched {
  int rank = 0;
  int size = -1;   ///< -1: only MPI knows
  std::string by;  ///< "mpirun", "srun"
};
std::optional<Launched> launched();

/// Null where the plug-in is missing; `why` then says so.
std::unique_ptr<Comm> open_mpi(std::string* why);
/// "Open MPI v4.1.4", or why there is none; for people.
std::string mpi_description();

}  // namespace vphi::comm
