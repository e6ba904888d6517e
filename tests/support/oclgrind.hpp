// Shipped models on a simulated OpenCL device that checks every access: Oclgrind (Price and
// McIntosh-Smith, IWOCL 2015) interprets the kernels and reports races between work items and
// reads and writes outside of a buffer.
//
// It is found as a Debian or Ubuntu package (oclgrind) puts it, or by VPHI_OCLGRIND, the path of
// liboclgrind-rt-icd.so. It has to be the only OpenCL driver of a process, so `oclgrind_here` comes
// before anything else that opens a device.
#pragma once

#include <functional>
#include <string>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::testing {

/// Makes Oclgrind the OpenCL driver of this process; false, with a reason, where it is absent.
bool oclgrind_here(std::string* why);

/// What Oclgrind says of what `use` does with its device; empty: nothing.
std::string complaints(const std::function<void(runtime::Device&)>& use);

/// How a kernel is laid out: rows for a processor's work groups of one item, or a GPU's blocks with
/// local memory and barriers.
enum class Form { Processor, Gpu };

struct Watched {
  /// What Oclgrind has to say; empty: nothing was found. Left out are accesses of the last group of
  /// a launch to what other groups wrote: an atomic counter orders them, which it does not follow.
  std::string log;
  int launches = 0;  ///< of kernels, prologue and outputs included
};

/// A shipped model on a lattice of `side` sites along each axis (2D and 3D; half as many in 4D, 1D
/// ones as they stand),
/// with 64 particles or 3 instances of a sweep: the prologue, `steps` steps, and the launches of
/// every output. Two threads that store one and the same value to a place are a race too, but where
/// threads repeat an instance (paths of noise). Kernels that Oclgrind cannot run as its clang
/// optimises them run as written.
Watched watch(const std::string& path, Form form, int side, int steps);

}  // namespace vphi::testing
