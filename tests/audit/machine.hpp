// Compiles a kernel to machine code of a GPU by NVRTC and reads the compiler's report.
#pragma once

#include <chrono>
#include <regex>
#include <string>

#include "runtime/device/cuda/nvrtc.hpp"

namespace vphi::audit {

struct Machine {
  std::string log;
  bool calls = false;
  int spilled = -1;  ///< bytes of stores
  int registers = -1;
};

inline Machine compiled(const std::string& source) {
  // the compiler reports no registers for text that it has compiled before
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  Machine out;
  const std::string cubin = runtime::nvrtc_compile(
      source + "\n__device__ int vphi_unseen_" + std::to_string(now) + ";\n", "sm_90", &out.log);
  // functions of the toolkit that a kernel calls have names of their own
  out.calls = cubin.find("$__internal") != std::string::npos;
  std::smatch found;
  if (std::regex_search(out.log, found, std::regex("([0-9]+) bytes spill stores")))
    out.spilled = std::stoi(found[1]);
  if (std::regex_search(out.log, found, std::regex("Used ([0-9]+) registers")))
    out.registers = std::stoi(found[1]);
  return out;
}

}  // namespace vphi::audit
