// The list of compiled kernels, common to all devices.
//
// A device keeps a vector of its own `Compiled` (with `name` and `arguments`); a KernelHandle is an
// index into it.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/compile_progress.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/native/parallel.hpp"

namespace vphi::runtime {

/// Compiles all kernels, the largest first, and appends them to `list` in the given order.
/// `size(k)` is what compiling the k-th one costs, in any unit.
/// `compile_one(kernel)` runs on several threads. The first exception is rethrown with `list`
/// unchanged.
template <class Compiled, class CompileOne, class Size>
std::vector<KernelHandle> compile_into(std::vector<Compiled>& list,
                                       std::span<const program::Kernel> kernels, int threads,
                                       const CompileOne& compile_one, const Size& size) {
  const CompilerCall call(int(kernels.size()));
  std::vector<Compiled> compiled(kernels.size());
  const std::vector<int> order = largest_first(int(kernels.size()), size);
  parallel_for(int(order.size()), threads, [&](int i) {
    const auto k = std::size_t(order[std::size_t(i)]);
    const KernelAtWork at_work(kernels[k].name);
    compiled[k] = compile_one(kernels[k]);
  });
  std::vector<KernelHandle> handles;
  for (Compiled& kernel : compiled) {
    handles.push_back({int(list.size())});
    list.push_back(std::move(kernel));
  }
  return handles;
}

/// The same; the size is that of the source.
template <class Compiled, class CompileOne>
std::vector<KernelHandle> compile_into(std::vector<Compiled>& list,
                                       std::span<const program::Kernel> kernels, int threads,
                                       const CompileOne& compile_one) {
  return compile_into(list, kernels, threads, compile_one,
                      [&](int k) { return kernels[std::size_t(k)].source.size(); });
}

/// Throws DeviceError where the number of arguments is wrong.
template <class Compiled>
void check_arguments(const Compiled& kernel, std::span<const BufferHandle> arguments) {
  if (arguments.size() != kernel.arguments)
    throw DeviceError("Kernel '" + kernel.name + "' takes " + std::to_string(kernel.arguments) +
                      " arguments, " + std::to_string(arguments.size()) + " were given.");
}

}  // namespace vphi::runtime
