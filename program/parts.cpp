#include "program/parts.hpp"

#include <string_view>

namespace vphi::program {
namespace {

constexpr std::string_view kEnd = "\n// vphi: end\n", kRest = "\n// vphi: rest\n";

}  // namespace

Part part_of(const Kernel& kernel) {
  if (kernel.source.ends_with(kEnd)) return Part::End;
  return kernel.source.ends_with(kRest) ? Part::Rest : Part::Whole;
}

void mark_part(Kernel& kernel, Part part) {
  if (part != Part::Whole) kernel.source += part == Part::End ? kEnd : kRest;
}

int counts_in(const std::vector<Kernel>& kernels, int kernel, const Argument& counter) {
  const bool whole = part_of(kernels[static_cast<std::size_t>(kernel)]) == Part::Whole;
  return whole ? kernel : counter.index;
}

}  // namespace vphi::program
