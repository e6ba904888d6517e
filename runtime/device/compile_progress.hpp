// The kernels that are being compiled, for a progress message while the process waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vphi::runtime {

struct AtWork {
  int count = 0;  ///< kernels of this call of Device::compile; 0: nothing is compiled
  int done = 0;
  /// Kernels that are being compiled, in the order in which they were begun.
  std::vector<std::string> names;
  double seconds = 0;  ///< since the call
};
/// The present state; may be called from any thread.
AtWork compilers_at_work();

/// Number of kernels that compilers have made in this process, on any device; those from a cache
/// are not counted. May be called from any thread.
std::int64_t kernels_compiled();
/// Counts one more.
void count_compilation();

/// Exists during a call of Device::compile. Calls from several threads are counted together.
class CompilerCall {
 public:
  explicit CompilerCall(int count);
  ~CompilerCall();
  CompilerCall(const CompilerCall&) = delete;
  CompilerCall& operator=(const CompilerCall&) = delete;
};

/// Exists while one kernel is compiled.
class KernelAtWork {
 public:
  explicit KernelAtWork(std::string name);
  ~KernelAtWork();
  KernelAtWork(const KernelAtWork&) = delete;
  KernelAtWork& operator=(const KernelAtWork&) = delete;

 private:
  std::string name_;
};

}  // namespace vphi::runtime
