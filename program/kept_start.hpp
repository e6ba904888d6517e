// Starts that are kept only where a condition holds, `sweep event = 0..999, keep = condition`, as
// scalars of a Program.
#pragma once

#include <cstddef>
#include <string_view>

#include "program/program.hpp"

namespace vphi::program {

/// After the launches of `prologue` 1 where the start of the instance is kept, 0 where it is drawn
/// again with the instance's next key.
inline constexpr std::string_view kStartKept = "start_kept";
/// The number of draws, the one that was kept with them: 1 before the run.
inline constexpr std::string_view kDraws = "draws";

/// The slot of one of these; -1: every start is kept.
inline int slot_of_start(const Program& program, std::string_view name) {
  for (std::size_t slot = 0; slot < program.scalars.size(); ++slot)
    if (program.scalars[slot].name == name) return static_cast<int>(slot);
  return -1;
}

}  // namespace vphi::program
