// A separate code cache for a test: an empty folder, set as VPHI_CACHE and removed at the end.
#pragma once

#include <cstdlib>
#include <string>

#include "runtime/device/native/process.hpp"

namespace vphi::runtime {

class ScratchCache {
 public:
  ScratchCache() {
    const char* before = std::getenv("VPHI_CACHE");
    if (before) before_ = before;
    setenv("VPHI_CACHE", folder_.path().c_str(), 1);
  }
  ~ScratchCache() {
    if (before_.empty())
      unsetenv("VPHI_CACHE");
    else
      setenv("VPHI_CACHE", before_.c_str(), 1);
  }
  ScratchCache(const ScratchCache&) = delete;
  ScratchCache& operator=(const ScratchCache&) = delete;
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

}  // namespace vphi::runtime
