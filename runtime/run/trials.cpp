#include "runtime/run/trials.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vphi::runtime {

namespace {

constexpr const char* kAcceptedSlot = "steps_accepted";
constexpr const char* kRejectedSlot = "steps_rejected";

std::size_t slot_named(const program::Program& program, const char* name) {
  const auto found = std::ranges::find(program.scalars, name, &program::Scalar::name);
  return static_cast<std::size_t>(found - program.scalars.begin());
}

/// "120", or "110 to 130" where instances differ.
std::string range_of(std::span<const double> scalars, std::size_t width, std::size_t slot,
                     std::int64_t instances) {
  double low = scalars[slot], high = low;
  for (std::size_t i = 1; i < static_cast<std::size_t>(instances); ++i) {
    low = std::min(low, scalars[i * width + slot]);
    high = std::max(high, scalars[i * width + slot]);
  }
  return low == high ? fmt::format("{:.0f}", low) : fmt::format("{:.0f} to {:.0f}", low, high);
}

}  // namespace

bool has_trials(const program::Program& program) {
  return slot_named(program, kAcceptedSlot) < program.scalars.size() &&
         slot_named(program, kRejectedSlot) < program.scalars.size();
}

std::string trials_note(const program::Program& program, std::span<const double> scalars,
                        std::int64_t instances) {
  const std::size_t width = program.scalars.size();
  const auto count = [&](const char* name) {
    return range_of(scalars, width, slot_named(program, name), instances);
  };
  return fmt::format("steps within tol: {} accepted, {} rejected", count(kAcceptedSlot),
                     count(kRejectedSlot));
}

}  // namespace vphi::runtime
