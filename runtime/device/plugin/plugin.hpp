// The interface of libvphi_llvm.so: clang, LLVM and ORC behind plain C.
//
// Types of LLVM and exceptions do not pass through it. Returned text is owned by the caller and
// freed with vphi_plugin_free. All functions may be called from several threads. A crash or a fatal
// error of LLVM ends the call with an error text, not the process.
#pragma once

#include <cstddef>

extern "C" {

constexpr int VPHI_PLUGIN_VERSION = 1;

struct VphiText {
  char* data;
  std::size_t size;
};

struct VphiCode;

/// VPHI_PLUGIN_VERSION of the plug-in.
int vphi_plugin_version();
void vphi_plugin_free(VphiText text);

/// "clang 19.1.7", a static string.
const char* vphi_plugin_compiler();
/// Everything that changes the code apart from the source: compiler, flags, processor.
VphiText vphi_plugin_identity();

/// Compiles C++ to an object file. 0 on success; otherwise `log` has the reason.
int vphi_plugin_compile(const char* source, std::size_t size, int contract, VphiText* object,
                        VphiText* log);
/// Loads an object file into this process; null on failure.
VphiCode* vphi_plugin_load(const char* object, std::size_t size, VphiText* log);
/// The address of a name. Null where it or a name that it needs is missing; `log` says which.
void* vphi_plugin_symbol(VphiCode* code, const char* name, VphiText* log);
void vphi_plugin_unload(VphiCode* code);

/// Facts about emitted source as JSON (compiler/audit/audit.hpp). `dialect`: "native", "opencl",
/// "cuda". 0 on success; otherwise `log` says why the source could not be read.
int vphi_plugin_audit(const char* source, std::size_t size, const char* dialect, VphiText* facts,
                      VphiText* log);
}
