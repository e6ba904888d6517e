// The wave numbers |k| that the modes of a periodic box have, each listed once.
//
// A mode (n_1, n_2, n_3) of a box of N_1 x N_2 x N_3 sites at spacing dx has
//   |k| dx = 2 pi sqrt(sum_i (n_i/N_i)^2) = 2 pi sqrt(s)/L,   s = sum_i (n_i L/N_i)^2,
// with L the least common multiple of the N_i. Equal |k| are found by the whole numbers s, without
// rounding. Lattices of one to four dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace vphi::program {

class WaveNumbers {
 public:
  /// Nothing where L is above 2^30 or more than 2^22 wave numbers differ.
  static std::optional<WaveNumbers> of(const std::array<std::int64_t, 4>& extent);

  std::size_t count() const { return squares_.size(); }
  /// |k| dx of the wave number at this place; they increase from 0.
  double k_dx(std::size_t place) const;
  /// Place of the wave number of a mode; signs of the n_i do not matter.
  std::size_t place(const std::array<std::int64_t, 4>& n) const;
  /// Number of modes at each place; both halves of the transform of real data are counted.
  std::vector<std::int64_t> modes() const;

 private:
  std::int64_t square(const std::array<std::int64_t, 4>& n) const;

  std::array<std::int64_t, 4> extent_{1, 1, 1, 1};
  std::int64_t multiple_ = 1;          ///< L
  std::vector<std::int64_t> squares_;  ///< s, increasing
};

}  // namespace vphi::program
