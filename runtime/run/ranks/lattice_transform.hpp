// Fourier transforms of a box in the memory of the devices of ranks that share it, or of one device
// that has it whole: each transforms its planes, columns are dealt from device to device, and each
// transforms its columns (fft/shared_fft.hpp).
//
// Numbers at sites lie in padded rows of the own planes, modes as [entry of a column][own column].
// One device has both in the same place, a rank has memory for its planes here. Calls are queued
// like launches. Throws DeviceError, and what an exchange between ranks throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "program/program.hpp"
#include "runtime/fft/device_fft.hpp"
#include "runtime/fft/shared_fft.hpp"
#include "runtime/run/ranks/lattice_ranks.hpp"

namespace vphi::runtime {

class LatticeTransform {
 public:
  enum class Where { Device, Host };  ///< Host: for tests of kernels on any OpenCL device

  /// `ranks`: those that share the lattice, of which the program is one's; null: it is whole. All
  /// must outlive this, `shape` too, which says who has which columns.
  LatticeTransform(const program::Program& program, Device& device, LatticeRanks* ranks,
                   const fft::SharedTransform& shape);
  ~LatticeTransform();
  LatticeTransform(const LatticeTransform&) = delete;
  LatticeTransform& operator=(const LatticeTransform&) = delete;

  /// Why the devices of ranks cannot share the box; empty: they can.
  std::string refused() const;
  /// Bytes of the memory that it takes beside the box of modes, with the work memory of transforms.
  std::size_t bytes_beside() const;
  /// Makes plans and memory. False, with a reason, where a library is absent or refuses.
  bool make(Where where, int threads, std::string* why);
  void release();

  std::int64_t planes() const { return planes_; }  ///< of this rank, as of all of these
  std::int64_t sites() const;
  std::int64_t rows() const { return sites() / box_.n[0]; }
  std::int64_t modes() const { return shape_.modes(); }
  std::size_t mode_bytes() const;
  /// Where numbers at sites lie beside a box of modes.
  BufferHandle sites_of(BufferHandle modes) const { return ranks_ ? sites_ : modes; }
  void forward(BufferHandle modes);
  void inverse(BufferHandle modes);
  std::string name() const { return transform_ ? transform_->name() : ""; }

 private:
  void deal(BufferHandle from, BufferHandle to, bool to_columns);

  const program::Program& program_;
  Device& device_;
  LatticeRanks* ranks_;
  const fft::SharedTransform& shape_;
  fft::Box box_;
  std::int64_t planes_;
  std::unique_ptr<fft::DeviceTransform> transform_, columns_;
  BufferHandle sites_;  ///< of ranks: padded rows of the own planes
};

}  // namespace vphi::runtime
