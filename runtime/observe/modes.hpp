// Fourier modes of a lattice field, grouped into shells of equal wave number.
//
// The shells of a box are |n| in [l - 1/2, l + 1/2), n being the mode numbers of the longest edge
// (mode numbers of a shorter edge are scaled by the ratio of the lengths). Both halves of the
// transform of real data are counted, so at N = 64 the shells hold 18, 62, 98, 210, 350, 450, 602,
// 762, ... modes. Sums are made plane by plane and the planes added in order: the same bits with
// any number of threads. Lattices of one to three dimensions; a fourth axis has no shells.
// Everything here is f64.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/fft/fft.hpp"
#include "runtime/parallel.hpp"

namespace vphi::observe {

/// The lattice of the values: physical spacing, sites along each axis.
struct Grid {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  int dims = 3;
  double dx = 1;
  int threads = 1;

  fft::Box box() const { return {{extent[0], extent[1], extent[2]}}; }
  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  std::int64_t longest() const;
  /// Smallest wave number, 2 pi over the longest edge.
  double k_ir() const { return 2 * std::numbers::pi / (static_cast<double>(longest()) * dx); }
};

/// One mode of the half-complex side of a transform.
struct Mode {
  std::array<std::int64_t, 3> n{};  ///< signed mode numbers
  std::array<double, 3> theta{};    ///< k dx along each axis
  double distance = 0;              ///< |k|/k_ir
  int weight = 1;                   ///< 2 where the mirror image is not stored
};

/// sum_i weight_i exp(i theta.offset_i)
std::complex<double> value(const program::Symbol& symbol, const std::array<double, 3>& theta);

/// Calls body(index, mode) for the modes of plane z, x fastest.
template <class Body>
void for_plane(const Grid& grid, std::int64_t z, const Body& body) {
  const fft::Box box = grid.box();
  const auto longest = static_cast<double>(grid.longest());
  const auto fold = [](std::int64_t i, std::int64_t n) { return 2 * i > n ? i - n : i; };
  const auto theta = [](std::int64_t i, std::int64_t n) {
    return 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
  };
  Mode mode;
  const auto set = [&](int axis, std::int64_t i) {
    mode.n[axis] = fold(i, box.n[axis]);
    mode.theta[axis] = theta(mode.n[axis], box.n[axis]);
    return longest / static_cast<double>(box.n[axis]) * static_cast<double>(mode.n[axis]);
  };
  const double kz = set(2, z);
  for (std::int64_t y = 0; y < box.n[1]; ++y) {
    const double ky = set(1, y);
    for (std::int64_t x = 0; x < box.half(); ++x) {
      const double kx = set(0, x);
      mode.distance = std::sqrt(kx * kx + ky * ky + kz * kz);
      mode.weight = x == 0 || 2 * x == box.n[0] ? 1 : 2;
      body((z * box.n[1] + y) * box.half() + x, mode);
    }
  }
}

/// Number of shells, the zero mode's included.
std::size_t shells(const Grid& grid);

/// Sums over the modes of each shell: `terms(index, mode)` gives Count numbers, which are
/// multiplied by the mode's weight. `two_bins` shares a mode at distance p between the shells
/// floor(p) and floor(p) + 1 with c = (1 - (l - p)^2)^2 (docs/formulas.md 1.7, DEFROST).
template <int Count, class Terms>
std::vector<std::array<double, Count>> shell_sums(const Grid& grid, bool two_bins,
                                                  const Terms& terms) {
  using Sums = std::vector<std::array<double, Count>>;
  const std::size_t count = shells(grid) + (two_bins ? 1 : 0);
  std::vector<Sums> planes(static_cast<std::size_t>(grid.extent[2]));
  runtime::parallel_ranges(grid.extent[2], grid.threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t z = begin; z < end; ++z) {
      Sums sums(count);
      const auto add = [&](std::size_t l, double c, const std::array<double, Count>& t) {
        for (int i = 0; i < Count; ++i) sums[l][i] += c * t[i];
      };
      for_plane(grid, z, [&](std::int64_t index, const Mode& mode) {
        const std::array<double, Count> t = terms(index, mode);
        if (!two_bins) {
          add(static_cast<std::size_t>(mode.distance + 0.5), mode.weight, t);
          return;
        }
        const double low = std::floor(mode.distance), rest = mode.distance - low;
        const auto share = [&](double off) { return std::pow(1 - off * off, 2) * mode.weight; };
        add(static_cast<std::size_t>(low), share(rest), t);
        if (rest > 0) add(static_cast<std::size_t>(low) + 1, share(1 - rest), t);
      });
      planes[static_cast<std::size_t>(z)] = std::move(sums);
    }
  });
  Sums total(count);
  for (const Sums& plane : planes)
    for (std::size_t l = 0; l < count; ++l)
      for (int i = 0; i < Count; ++i) total[l][i] += plane[l][i];
  return total;
}

/// f~ of one array.
std::vector<fft::Complex> transform(const Grid& grid, std::span<const double> values);

}  // namespace vphi::observe
