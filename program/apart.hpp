// Work that may end its process, tried in a child first.
//
// libhdf5 1.10 does not survive every damaged file: it copies from beyond a heap that lies about
// its size (H5HG_read), or asks for as many gigabytes as the file says. What is of unknown origin
// is therefore read once in a forked child with bounds on memory and time; whatever becomes of the
// child, the parent learns in words. Threads of the parent do not exist in the child, so `work`
// must not wait for one of them; what it changes in memory is lost with the child.
//
// A fuzzer (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION) looks for what ends the process, so there the
// work counts as survived without being tried.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace vphi {

struct Apart {
  enum class How { Returned, Threw, Died };
  How how = How::Returned;
  std::string what;  ///< Threw: what() of the exception; Died: how, "memory ran out"
};

struct ApartLimits {
  std::size_t bytes = std::size_t{1} << 30;  ///< of address space beyond what is taken already
  int seconds = 60;                          ///< of the processor; of the clock ten times as many
};

/// Nothing is thrown. Where no child can be made the work counts as survived.
Apart tried_apart(const std::function<void()>& work, const ApartLimits& limits = {});

}  // namespace vphi
