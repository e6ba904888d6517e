#include "runtime/run/ranks/joint_sums.hpp"

#include <algorithm>

namespace vphi::runtime {

using program::Argument;

bool adds_sums(const program::Kernel& kernel) {
  return std::ranges::any_of(
             kernel.arguments,
             [](const Argument& a) { return a.kind == Argument::Kind::Gathered; }) &&
         std::ranges::all_of(kernel.arguments, [](const Argument& a) {
           return a.kind == Argument::Kind::Gathered || a.kind == Argument::Kind::Scalars;
         });
}

std::size_t end_of_joint(const program::Program& program, const std::vector<program::Launch>& list,
                         std::size_t first) {
  const auto adds = [&](std::size_t i) {
    return adds_sums(program.kernels[static_cast<std::size_t>(list[i].kernel)]);
  };
  std::size_t end = first;
  while (end < list.size() && adds(end)) {
    const program::Launch& launch = list[end++];
    // what comes between would meet its wishes apart
    if (!launch.halos.empty() || !launch.maps.empty() || launch.solve >= 0) break;
  }
  return end > first ? end : first + 1;
}

}  // namespace vphi::runtime
