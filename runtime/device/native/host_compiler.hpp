// Compiles C++ source for this machine's processor; two compilers behind one interface.
//
// The plug-in (libvphi_llvm.so: clang, LLVM and ORC in this process) or the system's C++ compiler.
// `compile` gives bytes that may be kept on disk and loaded by another process on a machine with
// the same `identity`; it may be called from several threads. Source is C++20; it may include
// <cmath>, <cstdint>, <cstddef> and <cstring> and nothing else (the plug-in has no other headers).
// Contraction of a*b + c to a fused multiply-add is allowed unless the source has a line `// vphi:
// contract=off` or `#pragma STDC FP_CONTRACT OFF`; a line `// vphi: contract=expression` allows it
// within an expression alone. The plug-in compiles quickly rather than well what has the last line
// `// vphi: seldom`, or the first line `// vphi: long`: thousands of operations in one loop.
// Failures throw DeviceError, which holds the compiler's log.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Code in memory; its functions stay valid as long as it lives.
class HostCode {
 public:
  virtual ~HostCode() = default;
  virtual void* symbol(const std::string& name) const = 0;
};

class HostCompiler {
 public:
  virtual ~HostCompiler() = default;
  virtual std::string name() const = 0;      ///< for people: "clang 19.1.7 in process"
  virtual std::string identity() const = 0;  ///< all that changes the code beside the source
  virtual std::string compile(const std::string& source, bool contract) const = 0;
  virtual std::unique_ptr<HostCode> load(std::string_view object) const = 0;
};

/// Null where the plug-in is not found; `why` then says where it was looked for.
std::unique_ptr<HostCompiler> open_plugin_compiler(std::string* why);
/// Null where no C++ compiler is found. Tries $VPHI_CXX, c++, g++, clang++.
std::unique_ptr<HostCompiler> open_system_compiler(std::string* why);

bool contraction_allowed(std::string_view source);
/// What a line `// vphi: registers=N` of the source asks for, the most of a thread; else 0.
int registers_asked(std::string_view source);
/// Model name and instruction sets of the processor: -march=native depends on them.
std::string processor_identity();
std::string processor_name();
bool has_avx512();

}  // namespace vphi::runtime
