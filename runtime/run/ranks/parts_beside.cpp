#include "runtime/run/ranks/parts_beside.hpp"

#include <algorithm>

namespace vphi::runtime {

using program::Part;

namespace {

Part part_of_launch(const program::Program& program, const program::Launch& launch) {
  return part_of(program.kernels[static_cast<std::size_t>(launch.kernel)]);
}

}  // namespace

bool has_parts(const program::Program& program, const std::vector<program::Launch>& list) {
  return std::ranges::any_of(list, [&](const program::Launch& launch) {
    return part_of_launch(program, launch) != Part::Whole;
  });
}

Part PartsBeside::part(const program::Launch& launch) const {
  return part_of_launch(program_, launch);
}

void PartsBeside::before(const program::Launch& launch) {
  if (lanes_ == nullptr) return;
  if (part(launch) == Part::End && !aside_) lanes_->aside(), aside_ = true;
  if (part(launch) == Part::Rest && aside_) lanes_->back();
}

void PartsBeside::after(const program::Launch& launch) {
  if (aside_ && part(launch) == Part::Rest) lanes_->join(), aside_ = false;
}

}  // namespace vphi::runtime
