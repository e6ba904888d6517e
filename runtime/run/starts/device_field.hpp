// Random fields made on a device, so that large lattices are not copied to the host.
//
// A DeviceFields belongs to one Program on one Device and owns a padded f64 box, the transform's
// plan and work memory and a few compiled kernels; it takes them at first use. Of a lattice that
// ranks share, each device makes its own planes, and has a share of the modes. It is used where the
// device is not a processor, and has f64 and sufficient memory (`worth_it`). Functions return false
// or nothing where they are not possible; the host (random_field.hpp) then computes the same
// numbers to rounding. Throws DeviceError where a launch or allocation fails later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/ranks/lattice_transform.hpp"
#include "runtime/run/starts/field_kernels.hpp"

namespace vphi::runtime {

class DeviceFields {
 public:
  using Transform = LatticeTransform::Where;

  /// `ranks`: those that share the lattice, of which the program is one's; null: it is whole.
  DeviceFields(const program::Program& program, Device& device,
               Transform transform = Transform::Device, LatticeRanks* ranks = nullptr);
  ~DeviceFields();
  DeviceFields(const DeviceFields&) = delete;
  DeviceFields& operator=(const DeviceFields&) = delete;

  /// Whether this is faster for a lattice of this size on this device; the result is the same.
  static bool worth_it(const program::Program& program, const DeviceInfo& info);

  /// Fills `to` (one number a site, x fastest), of a rank its own sites without their ghosts.
  /// False, with the reason in `why`, where nothing was done; the same on all ranks, which call it
  /// together.
  bool random(const program::RandomField& field, BufferHandle to, program::Precision precision);
  /// Frees the memory on the device.
  void release();

  const std::string& why() const { return why_; }
  std::string transform_name() const { return transform_.name(); }

 private:
  bool ready();
  bool make();
  void by_site(const program::RandomField& field, BufferHandle to, program::Precision precision);
  void vacuum(const program::RandomField& field, BufferHandle to, program::Precision precision);
  BufferHandle take(std::size_t bytes);
  void give(BufferHandle& handle);
  void write_sheet(const std::vector<double>& values);
  std::vector<double> blank_sheet() const;

  const program::Program& p_;
  Device& device_;
  Transform wanted_;
  LatticeRanks* ranks_;
  fft::SharedTransform shape_;  ///< who has which columns
  fft::Box box_;
  LatticeTransform transform_;
  bool ready_ = false;
  BufferHandle modes_, sheet_;
  FieldKernels kernels_;
  std::string why_;
};

}  // namespace vphi::runtime
