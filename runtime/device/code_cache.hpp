// Loading a kernel's code through the disk cache; the same for all devices.
#pragma once

#include <chrono>
#include <utility>

#include "runtime/device/cache.hpp"
#include "runtime/device/compile_progress.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Functions that make the code of a kernel: `build` compiles it to bytes, `load` loads these.
template <class Load, class Build>
struct CodeSource {
  Load load;
  Build build;
};
template <class Load, class Build>
CodeSource(Load, Build) -> CodeSource<Load, Build>;

/// A kernel needs more of a resource than the device has. This is no defect of the compiler; the
/// message says what to change.
struct LimitError : DeviceError {
  using DeviceError::DeviceError;
};

/// The error for a generated kernel that the device's compiler refuses; it names the kernel.
inline DeviceError kernel_error(const program::Kernel& kernel, const DeviceError& error) {
  std::string text = "Kernel '" + kernel.name + "' could not be compiled. " + error.what();
  for (const std::string& note : kernel.notes) text += "\n  it computes: " + note;
  return DeviceError(text +
                         "\n  This is a defect of vphi, not of the model; the compiler's log "
                         "follows.",
                     error.log);
}

/// Code from the cache where there is a valid entry that can be loaded; otherwise it is built and
/// stored. `known`: the same bytes for other kernels; taken where there are some, and kept there.
template <class Load, class Build>
auto cached_code(const DiskCache& cache, const std::string& key, const program::Kernel& kernel,
                 const CodeSource<Load, Build>& source, KernelReport& report,
                 std::string* known = nullptr) -> decltype(source.load(std::string_view())) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  if (known && !known->empty()) {
    auto code = source.load(*known);
    report.compile_seconds = seconds();
    return code;
  }
  if (auto bytes = cache.load(key)) {
    try {
      auto code = source.load(*bytes);
      report.from_cache = true;
      report.compile_seconds = seconds();
      return code;
    } catch (const DeviceError&) {
      // valid bytes that this system cannot load: built again below
    }
  }
  try {
    const std::string bytes = source.build();
    count_compilation();
    auto code = source.load(bytes);
    report.compile_seconds = seconds();
    cache.store(key, bytes);
    if (known) *known = bytes;
    return code;
  } catch (const LimitError&) {
    throw;
  } catch (const DeviceError& error) {
    throw kernel_error(kernel, error);
  }
}

}  // namespace vphi::runtime
