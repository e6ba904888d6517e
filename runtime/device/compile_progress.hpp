// Which kernel a device's compiler is working on, for a progress message while the process waits.
#pragma once

#include <string>
#include <vector>

namespace vphi::runtime {

struct AtWork {
  int count = 0;  ///< kernels of this call of Device::compile; 0: nothing is compiled
  int done = 0;
  std::vector<std::string> names;  ///< begun and not done, in the order in which they were begun
  double seconds = 0;              ///< since the call
};
/// Any thread may ask.
AtWork compilers_at_work();

/// Lives as long as a call of Device::compile; calls from several threads count together.
class CompilerCall {
 public:
  explicit CompilerCall(int count);
  ~CompilerCall();
  CompilerCall(const CompilerCall&) = delete;
  CompilerCall& operator=(const CompilerCall&) = delete;
};

/// Lives while one kernel of it is made.
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
