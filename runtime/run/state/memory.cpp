// The memory that a Program needs on its device, known before it is allocated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runtime/run/session.hpp"
#include "runtime/run/session_arguments.hpp"

namespace vphi::runtime {
namespace {

using program::Argument;
using program::Launch;
using program::Program;

std::size_t word(const Program& p, int buffer) {
  return p.buffers[buffer].precision == program::Precision::F32 ? 4 : 8;
}

/// Of all numbers of a site that lie in a buffer's memory.
std::size_t words(const Program& p, int buffer) {
  return word(p, buffer) * static_cast<std::size_t>(p.buffers[buffer].lanes);
}

/// Scratch arrays that a launch touches.
void add_scratch(const Program& p, const Launch& launch, std::set<int>& found) {
  for (const Argument& a : p.kernels[launch.kernel].arguments)
    if (is_array(a) && p.buffers[a.index].scratch) found.insert(a.index);
}

/// The most bytes a site of scratch in use at one launch of the prologue; an array is in use from
/// its first to its last launch.
std::size_t prologue_scratch(const Program& p) {
  std::vector<std::set<int>> used(p.prologue.size());
  for (std::size_t i = 0; i < used.size(); ++i) add_scratch(p, p.prologue[i], used[i]);
  std::size_t most = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    std::set<int> before, after;
    for (std::size_t j = 0; j <= i; ++j) before.insert(used[j].begin(), used[j].end());
    for (std::size_t j = i; j < used.size(); ++j) after.insert(used[j].begin(), used[j].end());
    std::size_t alive = 0;
    for (int b : before)
      if (after.contains(b)) alive += words(p, b);
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

namespace {

/// Buffers whose second copy is there for Program::together alone.
std::vector<bool> doubled_for_passes(const Program& p) {
  std::vector<bool> other(p.kernels.size(), true), result(p.buffers.size());
  for (const Launch& launch : p.together) other[static_cast<std::size_t>(launch.kernel)] = false;
  for (const Launch& launch : p.step) other[static_cast<std::size_t>(launch.kernel)] = true;
  for (std::size_t b = 0; b < p.buffers.size(); ++b) result[b] = p.buffers[b].doubled;
  for (std::size_t k = 0; k < p.kernels.size(); ++k)
    for (const Argument& a : p.kernels[k].arguments)
      if (other[k] && a.kind == Argument::Kind::Next)
        result[static_cast<std::size_t>(a.index)] = false;
  return result;
}

}  // namespace

MemoryNeed memory_needed(const Program& p, bool passes) {
  const std::vector<bool> spare = doubled_for_passes(p);
  const auto instances = static_cast<std::size_t>(p.instances);
  const auto sites = static_cast<std::size_t>(p.sites()) * instances;
  std::size_t first = 0, second = 0, outputs = 0;
  std::size_t fixed = p.scalars.size() * sizeof(double) * instances;
  for (std::size_t b = 0; b < p.buffers.size(); ++b) {
    if (p.buffers[b].scratch) continue;
    if (!p.buffers[b].file.empty()) {
      fixed += word(p, static_cast<int>(b)) * static_cast<std::size_t>(p.buffers[b].elements);
      continue;
    }
    first += word(p, static_cast<int>(b));
    if (p.buffers[b].doubled && (passes || !spare[b])) second += word(p, static_cast<int>(b));
  }
  const auto looked_at = [&](const std::vector<Launch>& before, const std::vector<Launch>& list) {
    std::set<int> used;
    for (const Launch& launch : p.with_iterations(before)) add_scratch(p, launch, used);
    for (const Launch& launch : p.with_iterations(list)) add_scratch(p, launch, used);
    std::size_t bytes = 0;
    for (int b : used) bytes += words(p, b);
    outputs = std::max(outputs, bytes);
  };
  looked_at(p.watch_before, p.watch);
  for (const auto& output : p.outputs) looked_at(output.before, output.launches);
  std::map<int, std::int64_t> whole;  // arrays that are gathered from all ranks
  for (const auto& kernel : p.kernels)
    for (const Argument& a : kernel.arguments)
      if (a.kind == Argument::Kind::Whole) whole[a.index] = a.bytes;
  for (const auto& [buffer, bytes] : whole) fixed += static_cast<std::size_t>(bytes);
  for (const auto& kernel : p.kernels)
    fixed += static_cast<std::size_t>(kernel.partials) * sizeof(double) + 4 * instances;
  // Initial scratch lives before the second copies are taken; outputs borrow those.
  const std::size_t extra = std::max({prologue_scratch(p), second, outputs});
  MemoryNeed need;
  need.state = (first + second) * sites + fixed;
  need.peak = (first + extra) * sites + fixed;
  need.per_site = sites > 0 ? need.peak / sites : 0;
  return need;
}

std::array<std::int64_t, 4> largest_lattice(const Program& p, std::size_t bytes) {
  const double ratio = static_cast<double>(bytes) / static_cast<double>(memory_needed(p).peak);
  const double scale = std::pow(ratio, 1.0 / p.dims);
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  for (int axis = 0; axis < p.dims; ++axis) {
    auto n = static_cast<std::int64_t>(static_cast<double>(p.extent[axis]) * scale);
    const std::int64_t multiple = n >= 64 ? 16 : n >= 16 ? 4 : 1;  // lengths that compute well
    extent[axis] = std::max<std::int64_t>(1, n / multiple * multiple);
  }
  return extent;
}

std::int64_t largest_batch(const Program& p, std::size_t bytes) {
  const double one = static_cast<double>(memory_needed(p).peak) / static_cast<double>(p.instances);
  // some memory is left for the device itself and for scratch of outputs at the end
  const double fit = 0.9 * static_cast<double>(bytes) / one;
  return std::min(p.all_instances(), static_cast<std::int64_t>(fit));
}

std::string shape_text(std::span<const std::int64_t> extent) {
  if (std::all_of(extent.begin(), extent.end(), [&](auto n) { return n == extent[0]; }))
    return extent.size() == 1 ? fmt::format("{}", extent[0])
                              : fmt::format("{}^{}", extent[0], extent.size());
  return fmt::format("{}", fmt::join(extent, " * "));
}

}  // namespace vphi::runtime
