// Several steps in one pass over memory, on processors: the sweeps of successive steps follow each
// other through the box, so that what one has written is still in a cache when the next reads it.
//
// A sweep is a list of tasks, each a run of rows (patterns/rows.hpp). A task of the next step reads
// results of the tasks near it, and overwrites numbers that only those have read. It may begin when
// they have ended. The tasks are the same functions as without overlap, so the results are the
// same.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

struct Wave {
  int steps = 2;
  std::int64_t reach = 1;  ///< tasks on both sides that a task waits for
};

/// The overlap of `wish` sweeps of `kernel` with `tasks` tasks each, or nothing, with the reason in
/// `why`. It is used only where the model asks for it (`wish` > 0): on two cores no gain was
/// measured.
std::optional<Wave> wave_of(const kernel::Kernel& kernel, std::int64_t tasks, int wish,
                            std::string& why);

}  // namespace vphi::emit
