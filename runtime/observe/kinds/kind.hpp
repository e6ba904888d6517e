// Computes the result of an output from its arrays; this folder has a file for each kind of
// program/outputs.def.
//
// A file defines `table_of` for its kind; a missing one is an error of the linker. Pure functions,
// in f64, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/histogram.hpp"
#include "runtime/observe/modes.hpp"
#include "runtime/observe/profile.hpp"

namespace vphi::observe {

/// Present contents of a buffer as f64, x fastest.
class ReadBuffer {
 public:
  using Sites =
      std::function<std::vector<double>(int buffer, std::size_t first, std::size_t count)>;
  /// `sites` reads some that follow one another; without it all are read for them.
  template <class All>
  ReadBuffer(All all, Sites sites = {}) : all_(std::move(all)), sites_(std::move(sites)) {}
  std::vector<double> operator()(int buffer) const { return all_(buffer); }
  std::vector<double> operator()(int buffer, std::size_t first, std::size_t count) const {
    if (sites_) return sites_(buffer, first, count);
    const std::vector<double> all = all_(buffer);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  std::function<std::vector<double>(int buffer)> all_;
  Sites sites_;
};

/// The arrays of an output at one moment.
struct Arrays {
  double time = 0;
  double level = 0;  ///< of a surface
  std::vector<std::vector<double>> values;
};

/// An output whose launches have filled its arrays.
struct FilledOutput {
  const program::Program& program;
  const program::FieldOutput& field;
  const ReadBuffer& read;
  const std::vector<double>& scalars;  ///< the scalar block
  int threads = 1;
  /// Of an output between two moments (FieldOutput::in_time): both of them.
  const Arrays* before = nullptr;
  const Arrays* now = nullptr;
  /// Where ranks have made them: bin_sums.
  const BinSums* sums = nullptr;
  /// Of a snapshot of all sites, the part that is wanted; count 0: all.
  io::Table::Part part = {};

  /// Number of arrays.
  std::size_t count() const { return field.more.size() + 1; }
  /// Array i in the units it is written in.
  std::vector<double> array(std::size_t i = 0) const;
  /// So many of its numbers from `first` on: with less reading than the whole, where that is known.
  std::vector<double> array(std::size_t i, std::size_t first, std::size_t count) const;
  /// Weight of array i in a sum over components.
  double weight(std::size_t i) const;
  /// All of them, and the level of a surface.
  Arrays arrays(double time) const;
  double scalar(int slot) const { return scalars[static_cast<std::size_t>(slot)]; }
  Grid grid() const;

  /// The values as rows with the columns of the kind.
  io::Table rows(std::vector<double> values) const;
  /// `arrays` at each site: sites slowest axis first, then `inner` lengths, one number of each
  /// array. Those of `part` alone.
  io::Table at_sites(std::size_t arrays, const std::vector<std::int64_t>& inner) const;
};

/// The same without the arrays.
io::Table rows_of(const program::Program& program, const program::FieldOutput& field,
                  std::vector<double> values);

/// Whether the table is made of sums over the modes or sites of bins, which ranks that share a box
/// make together, each of its own sites: spectra, occupation numbers, profiles, correlators.
bool has_bin_sums(const program::FieldOutput& field);
/// These sums. `output.read` gives own sites of the transform. Called by all of its ranks; the
/// first has the sums. Precondition: has_bin_sums.
BinSums bin_sums(const FilledOutput& output, fft::SharedTransform& transform);
/// Of a profile and a correlator (profile.hpp).
BinSums profile_sums(const FilledOutput& output, fft::SharedTransform& transform);
BinSums correlator_sums(const FilledOutput& output, fft::SharedTransform& transform);
/// The sums of the ranks, or those of the whole arrays.
BinSums sums_of_all(const FilledOutput& output);

/// Rows of position, value and count: at most FieldOutput::bins of them, or all where this is 0.
io::Table point_table(const FilledOutput& output, const std::vector<ProfilePoint>& points);

/// Counts as a table, or as a map with its edges. `below`, `above` and `invalid` become its further
/// numbers.
io::Table histogram_table(const program::Program& program, const program::FieldOutput& field,
                          const Histogram& counts);

/// Whether its arrays are read in parts, one after the other, so that the host never has the whole
/// of one that is larger: slices, histograms, snapshots of chosen sites.
bool read_in_parts(const program::FieldOutput& field);
inline constexpr std::size_t kSitesAtOnce = std::size_t{1} << 24;  ///< 134 MB in f64

/// A plane of an array, x fastest: `pieces` of `stride` numbers, one in each `planes` of them.
struct PlaneOfArray {
  std::int64_t stride = 1, planes = 1, pieces = 1, plane = 0;
};
/// Its numbers. `read` gives so many from `first` on; they are at most `at_once`, or a piece.
std::vector<double> plane_of(
    const PlaneOfArray& of, std::int64_t at_once,
    const std::function<std::vector<double>(std::size_t first, std::size_t count)>& read);

/// Whether a snapshot has no choice of sites.
bool takes_all_sites(const program::FieldOutput& field);
/// A snapshot of chosen sites. It reads planes with such sites, at most `at_once` numbers of an
/// array at a time or one plane; a lattice of no more sites whole.
io::Table chosen_sites(const FilledOutput& output, std::size_t at_once);

/// Of the whole lattice.
Grid grid_of(const program::Program& program, int threads);

template <program::OutputKind kind>
io::Table table_of(const FilledOutput& output);

#define VPHI_OUTPUT(kind, ...) \
  template <>                  \
  io::Table table_of<program::OutputKind::kind>(const FilledOutput& output);
#define VPHI_WRITTEN VPHI_OUTPUT
#include "program/outputs.def"

}  // namespace vphi::observe
