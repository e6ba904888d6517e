// Random fields and spectra made on a device, so that large lattices are not copied to the host.
//
// A DeviceFields belongs to one Program on one Device and owns a padded f64 box, the transform's
// plan and work memory and a few compiled kernels; it takes them at first use. It is used where the
// device is not a processor, and has f64 and sufficient memory (`worth_it`). Functions return false
// or nothing where they are not possible; the host (random_field.hpp, observe/spectrum.hpp) then
// computes the same numbers to rounding. Throws DeviceError where a launch or allocation fails
// later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/fft/device_fft.hpp"
#include "runtime/run/starts/field_kernels.hpp"

namespace vphi::runtime {

class DeviceFields {
 public:
  enum class Transform { Device, Host };  ///< Host: for tests of the kernels on any OpenCL device

  DeviceFields(const program::Program& program, Device& device,
               Transform transform = Transform::Device);
  ~DeviceFields();
  DeviceFields(const DeviceFields&) = delete;
  DeviceFields& operator=(const DeviceFields&) = delete;

  /// Whether this is faster for a lattice of this size on this device; the result is the same.
  static bool worth_it(const program::Program& program, const DeviceInfo& info);

  /// Fills `to` (one number a site, x fastest). False, with the reason in `why`, where nothing was
  /// done.
  bool random(const program::RandomField& field, BufferHandle to, program::Precision precision);
  /// The modes of the field in `from`, which is not changed, by shells: entry l contains the modes
  /// with |n| in [l - 1/2, l + 1/2), n being mode numbers of the longest edge. Both halves are
  /// counted.
  struct Shell {
    double power = 0;  ///< sum of |f~|^2
    std::int64_t modes = 0;
  };
  std::optional<std::vector<Shell>> shells(BufferHandle from, program::Precision precision);
  /// Frees the memory on the device.
  void release();

  const std::string& why() const { return why_; }
  std::string transform_name() const { return transform_ ? transform_->name() : ""; }

 private:
  bool ready();
  void vacuum(const program::RandomField& field, BufferHandle to, program::Precision precision);
  BufferHandle take(std::size_t bytes);
  void give(BufferHandle& handle);
  void write_sheet(const std::vector<double>& values);
  std::vector<double> blank_sheet() const;

  const program::Program& p_;
  Device& device_;
  Transform wanted_;
  fft::Box box_;
  std::unique_ptr<fft::DeviceTransform> transform_;
  BufferHandle padded_, sheet_;
  FieldKernels kernels_;
  std::string why_;
};

}  // namespace vphi::runtime
