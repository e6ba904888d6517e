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

}  // namespace vphi::program
