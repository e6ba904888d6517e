// Compiles a kernel to machine code of a GPU by NVRTC and reads the compiler's report.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <regex>
#include <string>

#include "runtime/device/cuda/nvrtc.hpp"

namespace vphi::audit {

struct Machine {
  std::string log;
  bool calls = false;
  int spilled = -1;  ///< bytes of stores
  int registers = -1;
  int instructions = 0;  ///< of all functions, without those that do nothing
};

/// Machine instructions of 16 bytes in the sections `.text...` of a file in the form of ELF64
/// (header and tables of sections: System V ABI, chapter 4).
inline int instructions_of(const std::string& cubin) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    if (at + bytes <= cubin.size()) std::memcpy(&value, cubin.data() + at, bytes);
    return static_cast<std::size_t>(value);
  };
  const std::size_t table = number(40, 8), each = number(58, 2), count = number(60, 2);
  const std::size_t names = number(table + number(62, 2) * each + 24, 8);
  constexpr std::uint64_t kOpcode = 0xfff, kNothing = 0x918;
  int result = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t section = table + i * each;
    if (cubin.compare(names + number(section, 4), 6, ".text.") != 0) continue;
    const std::size_t begin = number(section + 24, 8), size = number(section + 32, 8);
    for (std::size_t at = begin; at < begin + size; at += 16)
      result += (number(at, 8) & kOpcode) != kNothing;
  }
  return result;
}

inline Machine compiled(const std::string& source) {
  // the compiler reports no registers for text that it has compiled before
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  Machine out;
  const std::string cubin = runtime::nvrtc_compile(
      source + "\n__device__ int vphi_unseen_" + std::to_string(now) + ";\n", "sm_90", &out.log);
  // functions of the toolkit that a kernel calls have names of their own
  out.calls = cubin.find("$__internal") != std::string::npos;
  out.instructions = instructions_of(cubin);
  std::smatch found;
  if (std::regex_search(out.log, found, std::regex("([0-9]+) bytes spill stores")))
    out.spilled = std::stoi(found[1]);
  if (std::regex_search(out.log, found, std::regex("Used ([0-9]+) registers")))
    out.registers = std::stoi(found[1]);
  return out;
}

}  // namespace vphi::audit
