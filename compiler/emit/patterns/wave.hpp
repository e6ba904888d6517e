// Several steps in one pass over memory, on processors: the sweeps of successive steps follow each
// other through the box, so that what one has written is still in a cache when the next reads it.
//
// A sweep is a list of tasks, each a run of rows (patterns/rows.hpp). A task of the next step needs
// what the tasks near it have made, and overwrites what those alone have read; so it may begin when
// they have ended. The tasks are the same functions as for one sweep after the other, and so are
// the numbers.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

struct Wave {
  int steps = 2;
  std::int64_t reach = 1;  ///< tasks on both sides that a task waits for
};

/// The wave of `wish` sweeps of `kernel`, which have so many tasks, or nothing. It is made where the
/// model asks for it (`wish` > 0): timings on two cores found no gain. `why`: the reason, for people.
std::optional<Wave> wave_of(const kernel::Kernel& kernel, std::int64_t tasks, int wish,
                            std::string& why);

}  // namespace vphi::emit
