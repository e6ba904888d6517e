// Runs another program (a compiler) and collects what it says.
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

/// Ends what `run_process` has started and still waits for; nothing is started from then on. A
/// signal handler may call it, right before the process ends.
void end_child_processes();

/// Lives while a device's compiler works, in this process or another.
struct Compiling {
  Compiling();
  ~Compiling();
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;
};
/// Whether one does. A signal handler may ask.
bool compiling();

/// A new folder only this user can read; removed with all it holds at the end of its life.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  ///< empty where none could be made

 private:
  std::string path_;
};

}  // namespace vphi::runtime
