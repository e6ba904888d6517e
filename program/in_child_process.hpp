// Tries work that may crash in a child process first.
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
  std::string what;  ///< Threw: what() of the exception; Died: the cause, "memory ran out"
};

struct ChildLimits {
  std::size_t bytes = std::size_t{1} << 30;  ///< address space beyond what is in use at the call
  /// Of processor time; ten times as many of wall-clock time.
  int seconds = 60;
};

/// Runs `work` in a child process and says how it ended. Throws nothing. Where no child process can
/// be created the outcome is `Returned`.
ChildOutcome in_child_process(const std::function<void()>& work, const ChildLimits& limits = {});

}  // namespace vphi
