// Linear maps of arrays in Fourier space (program::FourierMap), on the host.
//
// The matrix f(scale*M) of every mode (program/fourier_map.hpp) is computed once and kept; maps
// with the same function of the same matrix share it. The result has the error of the transforms:
// some units of the last place of f64 relative to the largest mode. Nothing here fails but for lack
// of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

class FourierMaps {
 public:
  /// The program must outlive this.
  FourierMaps(const program::Program& program, int threads)
      : program_(program), threads_(threads), tables_(program.maps.size()) {}

  /// The arrays `to` of a map for the arrays `from` of one instance (x fastest).
  std::vector<std::vector<double>> apply(std::size_t map,
                                         std::span<const std::vector<double>> from);

 private:
  /// An entry of the matrices of all modes; `im` is empty where all are real.
  struct Entry {
    std::size_t row = 0, column = 0;
    std::vector<double> re, im;
  };
  using Table = std::vector<Entry>;  ///< entries that are not 0 in all modes
  const Table& table(std::size_t map);
  Table made(const program::FourierMap& map) const;

  const program::Program& program_;
  int threads_;
  std::vector<std::shared_ptr<const Table>> tables_;  ///< by map; made at first use
};

}  // namespace vphi::runtime
