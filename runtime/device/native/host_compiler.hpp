// Compiles C++ source for this machine's processor. There are two compilers:
//
// the plug-in (libvphi_llvm.so: clang, LLVM and ORC in this process), and the system's C++
// compiler. `compile` returns bytes that can be stored on disk and loaded by another process on a
// machine with the same `identity`; it may be called from several threads. Source is C++20; it may
// include <cmath>, <cstdint>, <cstddef> and <cstring> and nothing else (the plug-in has no other
// headers). Contraction of a*b + c to a fused multiply-add is allowed unless the source has a line
// `// vphi: contract=off` or `#pragma STDC FP_CONTRACT OFF`; a line `// vphi: contract=expression`
// allows it only within an expression. The plug-in uses a low level of optimisation for source with
// the last line `// vphi: seldom` (kernels that run rarely) or the first line `// vphi: long`
// (thousands of operations in one loop). Failures throw DeviceError with the compiler's log.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Code in memory; its functions are valid as long as this object exists.
class HostCode {
 public:
  virtual ~HostCode() = default;
  virtual void* symbol(const std::string& name) const = 0;
};

class HostCompiler {
 public:
  virtual ~HostCompiler() = default;
  virtual std::string name() const = 0;  ///< for messages: "clang 19.1.7 in process"
  /// Everything that changes the code apart from the source.
  virtual std::string identity() const = 0;
  virtual std::string compile(const std::string& source, bool contract) const = 0;
  virtual std::unique_ptr<HostCode> load(std::string_view object) const = 0;
};

/// Null where the plug-in is not found; `why` then says where it was searched.
std::unique_ptr<HostCompiler> open_plugin_compiler(std::string* why);
/// Null where no C++ compiler is found. Tries $VPHI_CXX, c++, g++, clang++.
std::unique_ptr<HostCompiler> open_system_compiler(std::string* why);

bool contraction_allowed(std::string_view source);
/// The largest number of registers of a thread, from a line `// vphi: registers=N` of the source; 0
/// without.
int registers_asked(std::string_view source);
/// Model name and instruction sets of the processor: -march=native depends on them.
std::string processor_identity();
std::string processor_name();
bool has_avx512();

}  // namespace vphi::runtime
