// Emits source text for kernels: CUDA, HIP, OpenCL and C++, from the templates.
//
// The body of a site is straight-line code with named temporaries; a template (templates/) supplies
// the loops and the memory accesses around it: plain sites, a march along z with plane sums and
// staged planes, row sums on CPUs. The choice follows from the kernel's stencils, its extents and
// the device, never from its name.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "compiler/kernel/kernel.hpp"
#include "program/program.hpp"

namespace vphi::emit {

/// Properties of the device for the emitter; the command-line tool fills them from
/// runtime::DeviceInfo.
struct TargetInfo {
  program::Target target = program::Target::Native;
  bool is_cpu = true;   ///< the kernel runs on a CPU; OpenCL then uses the loop over rows
  bool nvidia = false;  ///< the OpenCL device is NVIDIA's: inline PTX (cp.async) is allowed
  int compute_units = 132;
  std::size_t local_bytes = 227 * 1024;
  bool contract = true;  ///< fused multiply-add allowed; off for bit-for-bit checks
};

/// Place of an array's numbers in memory: in the memory of array `home`, as number `lane` of the
/// `lanes` numbers of a site. home = -1: plain memory of its own.
struct MemoryPlace {
  int home = -1;
  int lane = 0, lanes = 1;
};

/// Additions of the readable form of kernels (emit/text/reading.hpp).
struct Reading {
  std::vector<std::string> slots;  ///< names of the scalars, in the order of Bindings::slots
  /// "line 12: phi'' = ..." for a span of the model; empty for a span outside of the model.
  std::function<std::string(const dsl::Span&)> line;
};

/// The program around a kernel.
///
/// slots: names of the scalars in program order. buffer_of: array number -> buffer of the program.
/// places: array number -> place in memory; arrays beyond its end have plain memory. order: order
/// of the sites in memory with a home. by_slot: scalars are [slot][instance], so that neighbouring
/// threads access adjacent numbers; this is used where all kernels of a program have the pattern
/// single_site. Otherwise they are [instance][slot]. reading: null for text that is compiled.
struct Bindings {
  std::vector<std::string> slots;
  std::vector<int> buffer_of;
  std::vector<MemoryPlace> places = {};
  program::SiteOrder order = {};
  bool by_slot = false;
  const Reading* reading = nullptr;
  /// The functions are part of a launch that takes many steps (patterns/persistent.hpp); only that
  /// launch has an entry point.
  bool inside = false;
  /// Of the last groups of a part of a kernel (schedule/division.hpp): those of all parts, which
  /// count in one word, so that the last of them does what the kernel does at its end. 0: it is
  /// whole.
  std::int64_t arrivals = 0;
};

/// The kernel as a program::Kernel: source, entry, arguments, launch shape, cost.
program::Kernel emit(const kernel::Kernel& kernel, const TargetInfo& target,
                     const Bindings& bindings);

/// Planes that a group of a kernel over the whole lattice marches over (walks/march.hpp), all where
/// groups differ; 0: it is no march on the device.
std::int64_t planes_of_march(const kernel::Kernel& kernel, const TargetInfo& target,
                             const Bindings& bindings);

/// Whether a kernel walks along lines (kernel/line.hpp), so that neighbouring sites share their
/// values.
bool walks_lines(const kernel::Kernel& kernel, const TargetInfo& target);

/// Planes of a lattice that should lie between two cuts, so that a GPU's groups march over those of
/// one device, and their sums are the same.
std::int64_t planes_of_slab(std::span<const kernel::Kernel> kernels, const TargetInfo& target,
                            const Bindings& bindings, int ranks);

/// Of a kernel whose sums are a part of those of a lattice that ranks share
/// (kernel::sums_of_ranks), emitted as `sums`, number `number` of the program: the kernel that adds
/// those of all ranks and has its epilogue.
program::Kernel emit_end(const kernel::Kernel& kernel, const TargetInfo& target,
                         const Bindings& bindings, const program::Kernel& sums, int number);

/// A stand-alone file: the kernel, and a main function that calls it on test data.
std::string stand_alone(const program::Kernel& kernel, program::Target target);

}  // namespace vphi::emit
