// Options and declarations with which clang reads each dialect; no header of CUDA or OpenCL is
// needed. The audit cannot read a source with a name that is not declared here, so a new device
// function in the templates is added here as well.
#pragma once

#include <string>
#include <vector>

namespace vphi::plugin {

struct Dialect {
  std::vector<std::string> arguments;  ///< arguments of clang's front end
  std::string file;                    ///< name of the source, with the ending of its language
  const char* declarations = "";       ///< put before the source as a header
};

/// "native", "opencl" or "cuda".
Dialect dialect(const std::string& name);

}  // namespace vphi::plugin
