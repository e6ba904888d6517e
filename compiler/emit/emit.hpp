// From kernel to source text: CUDA, OpenCL and C++ printers over the templates.
//
// The body of a site is straight-line code with named temporaries; a template (templates/) supplies
// the pattern around it: plain sites, z-march with plane sums and staged planes, row sums on CPUs.
// The choice follows from the kernel's stencils, its extents and the device, never from its name.
#pragma once

#include <functional>
#include <string>

#include "compiler/kernel/kernel.hpp"
#include "program/program.hpp"

namespace vphi::emit {

/// What the emitter may assume of the device; filled from runtime::DeviceInfo by the driver.
struct TargetInfo {
  program::Target target = program::Target::Native;
  bool is_cpu = true;   ///< OpenCL on a CPU takes the x-loop form
  bool nvidia = false;  ///< OpenCL on NVIDIA: inline PTX (cp.async) is allowed
  int compute_units = 132;
  std::size_t local_bytes = 227 * 1024;
  bool contract = true;  ///< fused multiply-add allowed; off for bit-for-bit checks
};

/// Where the numbers of an array lie: in the memory of array `home` (none: its own, plain), as
/// number `lane` of `lanes` that a site has there.
struct MemoryPlace {
  int home = -1;
  int lane = 0, lanes = 1;
};

/// What the form for reading says beside the code (emit/text/reading.hpp).
struct Reading {
  std::vector<std::string> slots;  ///< names of the places in the scalar block, as Bindings::slots
  /// "line 12: phi'' = ..." for a span of the model; empty for one that lies elsewhere.
  std::function<std::string(const dsl::Span&)> line;
};

/// slots: name -> index in the scalar block, in program order.
/// buffer_of: array number -> program buffer index.
/// places: array number -> its place; may be shorter: the others are plain. order: of the sites in
/// the memory of those that have a home. by_slot: scalars are [slot][instance], where all kernels
/// of a program are paths, so that neighbouring threads meet neighbouring numbers; else
/// [instance][slot]. reading: null for what is compiled.
struct Bindings {
  std::vector<std::string> slots;
  std::vector<int> buffer_of;
  std::vector<MemoryPlace> places = {};
  program::SiteOrder order = {};
  bool by_slot = false;
  const Reading* reading = nullptr;
  /// The functions are part of a launch that takes many steps (patterns/persistent.hpp), which
  /// alone is called from outside.
  bool inside = false;
};

/// The kernel as a program::Kernel: source, entry, arguments, launch shape, cost.
program::Kernel emit(const kernel::Kernel& kernel, const TargetInfo& target,
                     const Bindings& bindings);

/// A file that compiles and runs by itself: the kernel, and a main that calls it on test data.
std::string stand_alone(const program::Kernel& kernel, program::Target target);

}  // namespace vphi::emit
