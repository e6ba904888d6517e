// The least time of a launch on a device whose ceilings are known: the roofline of a kernel.
//
// Five things take time and overlap within a kernel: moving its bytes, its arithmetic instructions,
// its special functions, the longest chain of operations of a site that wait for each other, and
// the launch itself. The longest of them is the kernel's limit; a step cannot be faster than the
// sum of the limits of its launches. Costs are the compiler's counts
// (program::Kernel), ceilings are measured (ceilings.hpp). A launch with fewer groups of threads
// than the device has multiprocessors can use only the share of the arithmetic that its groups
// have. Arrays of a step that the last cache holds are moved at the cache's rate. Maps in Fourier
// space are launches of their own, one for each pass over memory (program/fourier_cost.hpp).
// Iterations that end early count with one round, the least that they make.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/ceilings.hpp"

namespace vphi::runtime {

/// Seconds.
struct Limits {
  double memory = 0, arithmetic = 0, special = 0, latency = 0, launch = 0;
  bool cached = false;  ///< `memory` is by the rate of the cache
  bool pairs = false;   ///< the kernel sums over pairs
  double longest() const;
  /// "memory" or "cache", "arithmetic", "special functions", "latency" or "launch": which of them
  /// is the longest.
  std::string_view name() const;
};

/// The limits of one launch; `units`: multiprocessors of the device (DeviceInfo::compute_units).
/// `arrays`: bytes of the arrays that the launches of a step use; 0: more than a cache holds.
Limits limits(const program::Kernel& kernel, const Ceilings& ceilings, int units,
              double arrays = 0);
/// Seconds that a launch is expected to take on a GPU. No kernel reaches a ceiling, and its parts
/// overlap only in part. The numbers are fitted to the steps of the shipped models on one H200
/// (docs/performance.md, "What a step is expected to take").
double expected_seconds(const Limits& launch);

/// Bytes of all arrays that these launches and their maps in Fourier space read or write.
double bytes_of_arrays(const program::Program& program,
                       const std::vector<program::Launch>& launches);

/// Maps in Fourier space of a step.
struct TransformLimits {
  double arrays = 0;            ///< transforms of one array in one direction
  double passes = 0;            ///< over memory, along axes
  double flops = 0, bytes = 0;  ///< per site and step
  double seconds = 0;           ///< the longest limits of all their passes
};

/// What limits ask of a device beside its ceilings.
struct Units {
  int count = 1;                         ///< multiprocessors (DeviceInfo::compute_units)
  std::size_t local_bytes = 227 * 1024;  ///< DeviceInfo::local_bytes; that of H100 and H200
  bool processor = false;                ///< DeviceInfo::is_cpu
};
Units units_of(const DeviceInfo& info);

/// Limits of a step of a program.
struct StepLimits {
  Limits sum;                   ///< sums over the launches of a step, separately for each limit
  double seconds = 0;           ///< sum of the launches' longest limits
  double expected = 0;          ///< sum of the launches' expected_seconds; 0 on processors
  std::string_view name;        ///< the limit with the largest share of `seconds`
  double flops = 0, bytes = 0;  ///< per site and step, counted by the compiler
  double rounds = 0;            ///< part of `seconds`: the iterations of solves
  TransformLimits transforms;   ///< part of the others
};
/// The one count for what `vphi explain` says, `vphi bench` compares with and the model of ranks
/// takes. A launch of many steps is taken as long, as between outputs that are far apart: moving
/// its arrays and starting it are shared by all of its steps. Where several of its groups have
/// sites of one instance, they wait for each other after each launch of `step`, which takes as long
/// as a launch. `rounds`: iterations a step of each of Program::solves; none: they are not counted.
StepLimits step_limits(const program::Program& program, const Ceilings& ceilings,
                       const Units& units, std::span<const double> rounds = {});

/// Occupancy of a CUDA multiprocessor as limited by registers: the number of warps relative to 64.
/// 0 where the number of registers is unknown.
double occupancy_of_registers(int registers);

}  // namespace vphi::runtime
