// Work that may crash its process, done in a child process first.
//
// libhdf5 1.10 crashes on some damaged files: it copies beyond a heap whose stated size is wrong
// (H5HG_read), or allocates as many gigabytes as the file says. A file of unknown origin is
// therefore read once in a forked child with bounds on memory and time, and the parent gets the
// outcome as text. Threads of the parent do not exist in the child, so `work` must not wait for one
// of them; changes that it makes in memory are lost with the child.
//
// A fuzzer (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION) has to see the crash itself, so there the
// work is not tried in a child and the outcome is `Returned`.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace vphi {

struct ChildOutcome {
  enum class How { Returned, Threw, Died };
  How how = How::Returned;
  std::string what;  ///< Threw: what() of the exception; Died: how, "memory ran out"
};

struct ChildLimits {
  std::size_t bytes = std::size_t{1} << 30;  ///< of address space beyond what is taken already
  int seconds = 60;                          ///< of the processor; of the clock ten times as many
};

/// Nothing is thrown. Where no child can be made the work counts as survived.
ChildOutcome in_child_process(const std::function<void()>& work, const ChildLimits& limits = {});

}  // namespace vphi
