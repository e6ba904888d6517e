// Fourier transforms of a box of real data whose planes ranks share, in f64 on the host.
//
// Each rank transforms its planes, the columns along the slowest axis are dealt to the ranks, and
// each transforms its columns. So a rank holds a share of the sites, or a share of the modes, and
// never the whole box. Ranks that share the lines of planes first deal these out as whole planes.
// A single row is transformed whole by every rank. Numbers are those of one
// device, to the last bit, where every rank but the last has a multiple of
// program::planes_together.
// Throws CommError where the ranks do not reach each other any more.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/comm/comm.hpp"
#include "runtime/fft/fft.hpp"

namespace vphi::fft {

class SharedTransform {
 public:
  /// Of a box on one device.
  SharedTransform(const Box& box, int threads);
  /// Rank r of `comm` has planes[r] planes, of a single row so many sites, one rank after the
  /// other. `comm` must outlive this. `beside`: so many ranks that follow one another share the
  /// same planes, and each has an equal part of their lines (y); planes[r] are the shared ones.
  SharedTransform(const Box& box, std::vector<std::int64_t> planes, comm::Comm& comm, int threads,
                  int beside = 1);

  const Box& box() const { return box_; }
  /// The modes of this rank lie as [entry of a column][column], columns first, first + 1, ...:
  /// column x + half*y of a box with three axes, x of one with two.
  struct Columns {
    std::int64_t first = 0, count = 0;
  };
  const Columns& columns() const { return columns_[place_]; }
  const Columns& columns_of_rank(int rank) const {
    return columns_[static_cast<std::size_t>(rank)];
  }
  std::int64_t modes() const { return columns().count * length_; }
  /// Own columns in parts that follow from the box alone: sums over the modes of a part are the
  /// same for any number of ranks.
  const std::vector<Columns>& parts() const { return parts_; }
  int threads() const { return threads_; }

  /// Numbers of all ranks, one rank after the other, on the first; elsewhere nothing comes back.
  std::vector<double> joined(std::vector<double> own) const;
  /// `add` changes the numbers on one rank after the other; the first then has the last of them.
  void in_turn(std::vector<double>& numbers, const std::function<void()>& add) const;
  /// Whether it holds on any rank. Called by all of them.
  bool anywhere(bool here) const;
  /// The numbers at own sites (x fastest) become own modes, and back, without a factor.
  std::vector<Complex> forward(std::span<const double> own);
  std::vector<double> inverse(std::vector<Complex> modes);
  /// The numbers at own sites become those of whole planes: the own ones, of shared planes the part
  /// that this rank transforms.
  std::vector<double> planes(std::vector<double> own);
  /// The first of these planes.
  std::int64_t first_plane() const;

 private:
  std::vector<Complex> forward_row(std::span<const double> own);
  std::vector<double> inverse_row(std::vector<Complex> modes);
  /// Own lines of shared planes become all lines of some of these planes, and back.
  std::vector<double> to_whole_lines(std::span<const double> own);
  std::vector<double> to_own_lines(std::span<const double> whole);
  /// Entries of the own planes of all columns become all entries of the own columns, and back.
  std::vector<Complex> to_columns(const std::vector<Complex>& of_planes);
  std::vector<Complex> to_planes(std::vector<Complex> of_columns);

  Box box_;
  int threads_;
  comm::Comm* comm_ = nullptr;
  std::size_t place_ = 0;
  std::int64_t length_;  ///< entries of a column
  int beside_ = 1;
  std::vector<std::int64_t> planes_;  ///< by rank: that it transforms
  std::vector<Columns> columns_;      ///< by rank
  std::vector<Columns> parts_;        ///< of this rank
};

}  // namespace vphi::fft
