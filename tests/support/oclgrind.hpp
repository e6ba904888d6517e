// Shipped models on a simulated OpenCL device that checks every access: Oclgrind (Price and
// McIntosh-Smith, IWOCL 2015) interprets the kernels and reports races between work items and
// reads and writes outside of a buffer.
//
// It is found where the Debian or Ubuntu package oclgrind installs it, or by VPHI_OCLGRIND, the
// path of liboclgrind-rt-icd.so. It must be the only OpenCL driver of a process, so `oclgrind_here`
// is called before any device is opened.
#pragma once

#include <functional>
#include <string>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::testing {

/// Makes Oclgrind the OpenCL driver of this process; false, with a reason, where it is absent.
bool oclgrind_here(std::string* why);

/// Oclgrind's reports while `use` works with its device; empty: none.
std::string complaints(const std::function<void(runtime::Device&)>& use);

/// The form of the kernels: rows in work groups of one item for a processor, or blocks with local
/// memory and barriers for a GPU.
enum class Form { Processor, Gpu };

struct Watched {
  /// Oclgrind's reports; empty: none. Excluded are accesses of the last group of a launch to
  /// results of other groups: they are ordered by an atomic counter, which Oclgrind does not take
  /// into account.
  std::string log;
  int launches = 0;  ///< number of launches of kernels, including prologue and outputs
};

/// Runs a shipped model on a lattice of `side` sites along each axis (in 2D and 3D; half as many in
/// 4D, unchanged in 1D), with 64 particles or 3 instances of a sweep: the prologue, `steps` steps,
/// and the launches of every output. Two threads that store the same value to one place are also
/// reported as a race, except where threads repeat an instance. Kernels that Oclgrind cannot run
/// with optimisation run without it.
Watched watch(const std::string& path, Form form, int side, int steps);

}  // namespace vphi::testing
