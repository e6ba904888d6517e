// Kernels that make random fields, bin spectra and multiply modes on a device, for CUDA and for
// OpenCL.
//
// They belong to the runtime, not to a model. Their text is the same for every lattice, with the
// parameters in a small array of f64 ("sheet"), so that each is compiled once for a device and then
// comes from the cache. Formulas are those of random/philox.hpp, run/starts/vacuum.cpp and
// observe/spectrum.cpp, and the results agree with the host's to rounding.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Entries of the sheet that the kernels read; integers are exact in f64.
enum Sheet {
  kNx,
  kNy,
  kNz,
  kSeedLow,
  kSeedHigh,
  kStream,
  kMass2,
  kVelocity,
  kCut,
  kSmooth,
  kLaid,
  kScale,
  kDkx,
  kDky,
  kDkz,
  kLow,
  kHigh,
  kRows,         ///< of this device, along x
  kRowsBefore,   ///< of the lattice, before them
  kModes,        ///< of this device: [entry of a column][column]
  kColumns,      ///< of them
  kColumnFirst,  ///< of all columns
  kFirst,        ///< sites in memory before the first own one
  /// Sites that are drawn one by one: so many, and where they begin in the lattice. They follow one
  /// another in runs, which begin at equal steps in memory and in the lattice.
  kSites,
  kSiteFirst,
  kRun,
  kRunInMemory,
  kRunInLattice,
  kSheetSize
};

enum class FieldKernel {
  LayCorrelator,  ///< (box, correlator, sheet): c(r) at every site
  ColourModes,    ///< (box, sheet): amplitude times white noise at every mode
  Unpad,          ///< (out, box, sheet): padded f64 rows to a field
  Pad,            ///< (box, field, sheet): a field to padded f64 rows
  Normal,         ///< (out, sheet): by site
  Uniform,        ///< (out, sheet): by site
  /// (to, from, factors, sheet): modes of `to` = or += factor times mode times the sheet's scale;
  /// real factors are one number a mode, complex ones two.
  SetModesReal,
  AddModesReal,
  SetModesComplex,
  AddModesComplex,
};

/// `threads`: number of threads with work; `precision`: of the field that it reads or writes.
program::Kernel field_kernel(FieldKernel which, program::Target target,
                             program::Precision precision, std::int64_t threads);

/// These kernels on one device, for boxes of one size: each is compiled at first use.
class FieldKernels {
 public:
  /// `device` must outlive this.
  explicit FieldKernels(Device& device) : device_(device) {}
  /// Compiles the kernel for so many threads, where it is not there yet.
  KernelHandle prepare(FieldKernel which, program::Precision precision, std::int64_t threads);
  /// Queues a launch with as many threads as at the first launch of this kernel. Throws
  /// DeviceError.
  void launch(FieldKernel which, program::Precision precision, std::int64_t threads,
              std::initializer_list<BufferHandle> arguments);

 private:
  Device& device_;
  std::map<std::pair<FieldKernel, program::Precision>, KernelHandle> kernels_;
};

}  // namespace vphi::runtime
