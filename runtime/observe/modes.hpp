// Fourier modes of a lattice field, grouped into shells of equal wave number.
//
// The shells of a box are |n| in [l - 1/2, l + 1/2), n being the mode numbers of the longest edge
// (mode numbers of a shorter edge are scaled by the ratio of the lengths). Both halves of the
// transform of real data are counted, so at N = 64 the shells hold 18, 62, 98, 210, 350, 450, 602,
// 762, ... modes. Sums are made over parts of the columns (fft/shared_fft.hpp) and the parts added
// in order: the same bits with any number of threads, and of ranks that share the box. Lattices of
// one to four dimensions. Everything here is f64.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/fft/shared_fft.hpp"
#include "runtime/parallel.hpp"

namespace vphi::observe {

/// The lattice of the values: physical spacing, sites along each axis.
struct Grid {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  int dims = 3;
  double dx = 1;
  int threads = 1;

  fft::Box box() const { return {{extent[0], extent[1], extent[2], extent[3]}}; }
  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  std::int64_t longest() const;
  /// Smallest wave number, 2 pi over the longest edge.
  double k_ir() const { return 2 * std::numbers::pi / (static_cast<double>(longest()) * dx); }
};

/// One mode of the half-complex side of a transform.
struct Mode {
  std::array<std::int64_t, 4> n{};  ///< signed mode numbers
  std::array<double, 4> theta{};    ///< k dx along each axis
  double distance = 0;              ///< |k|/k_ir
  int weight = 1;                   ///< 2 where the mirror image is not stored
};

/// sum_i weight_i exp(i theta.offset_i)
std::complex<double> value(const program::Symbol& symbol, const std::array<double, 4>& theta);

/// Modes as the columns of a transform lie (fft/shared_fft.hpp).
class Modes {
 public:
  explicit Modes(const Grid& grid) : box_(grid.box()) {
    for (int axis = 0; axis < 4; ++axis)
      unit_[axis] = static_cast<double>(grid.longest()) / static_cast<double>(box_.n[axis]);
  }
  /// Of so many columns from `first` on, one entry of each, in their order: body(column, mode).
  template <class Body>
  void each(std::int64_t entry, std::int64_t first, std::int64_t count, const Body& body) {
    const std::size_t slowest = box_.slowest();
    set(slowest, entry);
    std::int64_t x = first % box_.half(), row = first / box_.half();
    for (std::int64_t column = first; column < first + count; ++column) {
      if (column == first || x == 0) set_row(slowest, row);
      set(0, x);
      mode_.distance = std::sqrt(k_[0] * k_[0] + k_[1] * k_[1] + k_[2] * k_[2] + k_[3] * k_[3]);
      mode_.weight = x == 0 || 2 * x == box_.n[0] ? 1 : 2;
      body(column, std::as_const(mode_));
      if (++x == box_.half()) x = 0, ++row;
    }
  }

 private:
  /// The axes between x and the slowest one.
  void set_row(std::size_t slowest, std::int64_t row) {
    for (std::size_t axis = 1; axis < slowest; ++axis) {
      set(axis, row % box_.n[axis]);
      row /= box_.n[axis];
    }
  }
  void set(std::size_t axis, std::int64_t i) {
    const std::int64_t n = box_.n[axis];
    mode_.n[axis] = 2 * i > n ? i - n : i;
    mode_.theta[axis] =
        2 * std::numbers::pi * static_cast<double>(mode_.n[axis]) / static_cast<double>(n);
    k_[axis] = unit_[axis] * static_cast<double>(mode_.n[axis]);
  }

  fft::Box box_;
  std::array<double, 4> unit_{};  ///< mode number of the longest edge, for 1 of this axis
  std::array<double, 4> k_{};
  Mode mode_;
};

/// Calls body(index, mode) for the modes of plane z of the whole box, x fastest; z is the slowest
/// of three axes and more.
template <class Body>
void for_plane(const Grid& grid, std::int64_t z, const Body& body) {
  const fft::Box box = grid.box();
  const std::int64_t columns = fft::columns_of(box);
  const bool flat = box.slowest() == 1;  // one plane, of which columns have all entries
  const std::int64_t first = flat ? 0 : z, entries = flat ? fft::planes_of(box) : 1;
  Modes modes(grid);
  for (std::int64_t entry = first; entry < first + entries; ++entry)
    modes.each(entry, 0, columns, [&](std::int64_t column, const Mode& mode) {
      body(entry * columns + column, mode);
    });
}

/// Calls body(index, mode) for the own modes of a part of a transform's columns.
template <class Body>
void for_part(const Grid& grid, const fft::SharedTransform& transform,
              const fft::SharedTransform::Columns& part, const Body& body) {
  const auto [first, count] = transform.columns();
  Modes modes(grid);
  for (std::int64_t entry = 0; entry < fft::planes_of(grid.box()); ++entry)
    modes.each(entry, part.first, part.count, [&](std::int64_t column, const Mode& mode) {
      body(entry * count + column - first, mode);
    });
}

/// The same for all of them, on the threads of the transform: parts in any order.
template <class Body>
void for_modes(const Grid& grid, const fft::SharedTransform& transform, const Body& body) {
  const auto& parts = transform.parts();
  runtime::parallel_ranges(std::ssize(parts), transform.threads(),
                           [&](std::int64_t begin, std::int64_t end) {
                             for (std::int64_t part = begin; part < end; ++part)
                               for_part(grid, transform, parts[part], body);
                           });
}

/// Number of shells, the zero mode's included.
std::size_t shells(const Grid& grid);

/// Sums of five numbers over the modes of each bin, whose meaning is the output's.
using BinSums = std::vector<std::array<double, 5>>;

/// Sums over the modes of each shell of five numbers that `terms(index, mode)` gives, multiplied by
/// the mode's weight. `two_bins` shares a mode at distance p between the shells floor(p) and
/// floor(p) + 1 with c = (1 - (l - p)^2)^2 (docs/formulas.md 1.7, DEFROST). `single`: bins are
/// values of |k| (program/wave_numbers.hpp), in this order. Called by all ranks of the transform;
/// the first has the sums.
using Terms = std::function<std::array<double, 5>(std::int64_t index, const Mode& mode)>;
BinSums shell_sums(const Grid& grid, bool two_bins, fft::SharedTransform& transform,
                   const Terms& terms);
BinSums single_sums(const Grid& grid, fft::SharedTransform& transform, const Terms& terms);

/// f~ of one array.
std::vector<fft::Complex> transform(const Grid& grid, std::span<const double> values);

}  // namespace vphi::observe
