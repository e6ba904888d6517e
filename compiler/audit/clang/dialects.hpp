// How clang is told to read each dialect, and the few declarations it needs for it: no header of
// CUDA or of OpenCL is used. Names not listed here make a source unreadable for the audit, so a new
// device function that the templates use is added here, too.
#pragma once

#include <string>
#include <vector>

namespace vphi::plugin {

struct Dialect {
  std::vector<std::string> arguments;  ///< of clang's front end
  std::string file;                    ///< name of the source, with the ending of its language
  const char* declarations = "";       ///< put before the source as a header
};

/// "native", "opencl" or "cuda".
Dialect dialect(const std::string& name);

}  // namespace vphi::plugin
