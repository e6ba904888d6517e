// Runs another program (a compiler) and collects its output.
#pragma once

#include <string>
#include <vector>

namespace vphi::runtime {

struct ProcessResult {
  int status = -1;     ///< exit status; 128 + signal where it was killed; -1 where it did not start
  std::string output;  ///< standard output and error together
};

/// `arguments[0]` is looked up in PATH. No shell is involved.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// Ends the programs that `run_process` has started; none is started afterwards. A signal handler
/// may call it right before the process ends.
void end_child_processes();

/// Exists while a device's compiler works, in this process or another.
struct Compiling {
  Compiling();
  ~Compiling();
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;
};
/// Whether a Compiling exists. A signal handler may call it.
bool compiling();

/// A new folder that only this user can read; the destructor removes it with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  ///< empty where the folder could not be made

 private:
  std::string path_;
};

}  // namespace vphi::runtime
