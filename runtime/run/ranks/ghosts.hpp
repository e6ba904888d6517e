// Where the ghosts of a rank come from: planes of its neighbours, or what lies beyond an end of the
// lattice (program::Cut). Every way of moving planes follows this list.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Planes that follow one another, in the memory of the rank `of` and in that of the rank that
/// wants them. Both numbers count planes of memory, ghosts included.
struct GhostPlanes {
  int of = 0;
  std::int64_t from = 0, to = 0, count = 0;
  program::Cut::End change = program::Cut::End::Periodic;  ///< Antiperiodic: the sign; Fixed: all
};

/// What an end of the lattice makes of an image, on words of 64 bits: (word & keep) ^ flip. Of f32
/// both halves are alike.
struct ImageMask {
  std::uint64_t keep = ~std::uint64_t{0}, flip = 0;
};
ImageMask image_mask(const program::Cut& cut, program::Cut::End end, program::Precision precision);

/// Bytes of a plane of an array, and number of planes in the memory of a rank, ghosts included.
std::size_t plane_bytes(const program::Program& of_rank, program::Precision precision);
std::size_t planes_in_memory(const program::Program& of_rank);

/// How an array lies in memory: its planes one after the other, or, where sites are ordered
/// (program::SiteOrder), those of each class of sites, class after class. A class has a share of
/// each plane.
struct PlacesOfArray {
  std::uint64_t plane = 0;  ///< bytes of a plane, of one class
  std::uint64_t line = 0;   ///< of it, bytes of a line along the second axis of a cut
  std::uint64_t classes = 1;
  std::uint64_t beyond = 0;  ///< the class number of a site grows so, from plane to plane
  std::uint64_t aside = 0;   ///< likewise from line to line
  /// The class of what lies in class `from`, on other planes and lines.
  std::uint64_t moved(std::uint64_t from, std::int64_t planes, std::int64_t lines) const;
};
/// `lanes`: Buffer::lanes of a buffer with a home; 0: plain memory.
PlacesOfArray places_of_array(const program::Program& of_rank, program::Precision precision,
                              int lanes);
/// Buffer::lanes as `places_of_array` takes it.
int lanes_of(const program::Buffer& buffer);

/// So many planes below and above the own ones of `rank`, at most those of the whole lattice; where
/// a cut has all, these. Beyond an end that is not periodic no more than the rank has.
std::vector<GhostPlanes> ghosts_of(const program::Cut& cut, int ranks, int rank,
                                   const std::array<int, 2>& depth);

/// Lines of planes: what a cut along two axes has in place of whole planes. Numbers of planes and
/// lines count memory, ghosts included.
struct GhostBlock {
  int of = 0;
  GhostPlanes planes, lines;  ///< along the cut axis and the second one, without `of`
};
/// So many planes below and above the own ones, and lines before and behind them, of a cut along
/// two axes. Their corners are among them: each comes from the rank that has it.
std::vector<GhostBlock> ghost_blocks(const program::Cut& cut, int ranks, int rank,
                                     const std::array<int, 2>& depth,
                                     const std::array<int, 2>& beside);
/// Two changes, one after the other.
ImageMask both(const ImageMask& first, const ImageMask& then);

/// What a launch needs of other ranks, or others of what it has written.
struct Wanted {
  /// Ghosts of the present copy of an array.
  struct Ghosts {
    BufferHandle array;
    program::Precision precision = program::Precision::F64;
    std::array<int, 2> depth{}, beside{};  ///< program::Halo
    int lanes = 0;                         ///< lanes_of
    std::uint64_t classes = 0;             ///< program::Halo
    void deepen(const Ghosts& other);
  };
  /// Memory of all ranks, one rank after the other: partial sums, or their planes of an array.
  /// Bytes of this rank, which begin at `own_at`, and of all.
  struct Joined {
    BufferHandle own, all;
    std::size_t own_bytes = 0, all_bytes = 0, own_at = 0;
  };
  /// Runs of bytes that follow one another at equal steps: `from` of the array of the rank that
  /// gives them, `to` of that which gets them.
  struct Runs {
    std::uint64_t from = 0, from_step = 0, to = 0, to_step = 0, bytes = 0, count = 0;
  };
  /// Parts of an array that each rank gives every other one, and itself: runs[giver][taker].
  struct Dealt {
    BufferHandle from, to;
    std::vector<std::vector<Runs>> runs;
    int part = 0;  ///< of several exchanges between these arrays that differ in their runs
  };
  std::vector<Ghosts> ghosts;
  std::vector<Joined> joined;
  std::vector<Dealt> dealt;
  bool empty() const { return ghosts.empty() && joined.empty() && dealt.empty(); }
};

}  // namespace vphi::runtime
