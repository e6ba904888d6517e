// Linear maps of arrays in Fourier space (program::FourierMap), on the host and on a device.
//
// The matrix f(scale*M) of every mode (program/fourier_map.hpp) is computed once and kept; maps
// with the same function of the same matrix share it. The result has the error of the transforms:
// some units of the last place of f64 relative to the largest mode. Nothing here fails but for lack
// of memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/fft/shared_fft.hpp"
#include "runtime/run/ranks/lattice_transform.hpp"
#include "runtime/run/starts/field_kernels.hpp"

namespace vphi::runtime {

class FourierMaps {
 public:
  /// Of the whole lattice, which may be that of several ranks. The program must outlive this.
  FourierMaps(const program::Program& program, int threads);
  /// Of a rank that has a share of the lattice. `comm` must outlive this too.
  FourierMaps(const program::Program& of_rank, comm::Comm& comm, int threads);

  /// The arrays `to` of a map for the arrays `from` of one instance (x fastest), of own planes
  /// where ranks share the lattice.
  std::vector<std::vector<double>> apply(std::size_t map,
                                         std::span<const std::vector<double>> from);

  /// An entry of the matrices of all modes of the transform; `im` is empty where all are real.
  struct Entry {
    std::size_t row = 0, column = 0;
    std::vector<double> re, im;
  };
  using Table = std::vector<Entry>;  ///< entries that are not 0 in all modes of all ranks
  /// The matrices of a map; the same object for maps that share them. Called by all ranks in the
  /// same order.
  const Table& table(std::size_t map);
  const fft::SharedTransform& transform() const { return transform_; }

 private:
  Table made(const program::FourierMap& map) const;

  const program::Program& program_;
  int threads_;
  fft::SharedTransform transform_;
  std::vector<std::shared_ptr<const Table>> tables_;  ///< by map; made at first use
};

/// The maps of a program of one instance in the memory of a device, by its own transform: arrays do
/// not go through the host. Where ranks share the lattice, each device transforms its planes, and
/// columns are dealt from device to device. Boxes, matrices and the transform's plan are made at
/// first use and kept. The caller owns the arrays. Throws DeviceError where a launch fails, and
/// what an exchange between ranks throws.
class DeviceFourierMaps {
 public:
  using Transform = LatticeTransform::Where;

  /// `ranks`: those that share the lattice, of which the program is one's; null: it is whole. All
  /// must outlive this.
  DeviceFourierMaps(const program::Program& program, Device& device, int threads,
                    Transform transform = Transform::Device, LatticeRanks* ranks = nullptr);
  ~DeviceFourierMaps();
  DeviceFourierMaps(const DeviceFourierMaps&) = delete;
  DeviceFourierMaps& operator=(const DeviceFourierMaps&) = delete;

  /// Whether the devices of all ranks, their libraries and their free memory allow it; otherwise
  /// `why`.
  bool ready();
  const std::string& why() const { return why_; }
  /// The arrays `to` of a map from its arrays `from` (x fastest, in the precision of their
  /// buffers). Queued like launches. Precondition: ready.
  void apply(std::size_t map, std::span<const BufferHandle> from, std::span<const BufferHandle> to);

 private:
  struct Factors {
    std::size_t row = 0, column = 0;
    bool real = true;
    BufferHandle memory;
  };
  const std::vector<Factors>& factors(std::size_t map);
  void release();
  bool make();
  void make_all();

  const program::Program& program_;
  Device& device_;
  Transform wanted_;
  int threads_;
  LatticeRanks* ranks_;
  FourierMaps tables_;
  LatticeTransform transform_;
  bool ready_ = false;
  std::vector<BufferHandle> boxes_;  ///< one for each array of a map that is read, and one
  BufferHandle sheet_;
  std::map<const FourierMaps::Table*, std::vector<Factors>> factors_;
  FieldKernels kernels_;
  std::string why_;
};

}  // namespace vphi::runtime
