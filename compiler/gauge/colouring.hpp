// Derives and proves colourings of the lattice: links of one colour may be updated at the same
// time.
//
// Two links along mu conflict where one loop of the action passes both: the distribution of one
// depends on the other. Their separations d form the conflict set D_mu. A linear colouring c(x) =
// a.x mod m with a.d != 0 (mod m) for every d of D_mu, and m dividing a_i L_i on each periodic
// axis and a.s of a shift s of its end, divides the links along mu into m classes without a
// conflict inside; along one axis whose extent is a multiple of m, a_i has no factor in common with
// m, so that the sites of a colour are enumerated by arithmetic. The search takes the smallest m,
// and the first a of those (docs/formulas.md 2.4); `prove` checks the sites of the periodic
// lattice, independently of the search. Where no m up to 64 fits, the answer names the extent that
// prevents it. Pure; nothing throws.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/gauge/word.hpp"

namespace vphi::gauge {

/// A box with periodic axes; extents of axes beyond `dims` are 1. Beyond the last site along an
/// axis lies the first, shift[axis][other] sites further along each other axis.
struct Box {
  int dims = 4;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<std::array<std::int64_t, 4>, 4> shift{};
};

/// The site of the box at `separation` from its first one.
Offset wrapped(const Offset& separation, const Box& box);

/// Separations of two links along `axis` in one loop, each with its negative, none twice, 0 left
/// out. A loop that passes one link twice on a small lattice is found by `twice`.
std::vector<Offset> conflicts(const std::vector<Word>& loops, int axis);

struct Colouring {
  std::array<int, 4> a{};
  int colours = 1;  ///< m
  /// 0 ... m - 1
  std::int64_t of(const std::array<std::int64_t, 4>& site) const;
};

/// An extent that no colouring fits: `axis` must be a multiple of `multiple` (for the colouring
/// with the fewest colours on an endless lattice).
struct Misfit {
  int axis = 0;
  std::int64_t extent = 0;
  std::int64_t multiple = 0;
  int colours = 0;
  bool shifted = false;  ///< the end of the axis is, and the shift may be another too
};

struct ColouringFound {
  std::optional<Colouring> colouring;
  std::optional<Misfit> misfit;  ///< set where there is none
};

ColouringFound find_colouring(const std::vector<Offset>& conflicts, const Box& box);

/// Two sites of one colour whose links are in conflict.
struct Clash {
  std::array<std::int64_t, 4> site{};
  Offset separation;
};
/// Searches all sites of the box. Along an axis longer than 2m the first m and the last m sites
/// suffice: they contain all colours and the boundary where the axis closes.
std::optional<Clash> prove(const Colouring& colouring, const std::vector<Offset>& conflicts,
                           const Box& box);

}  // namespace vphi::gauge
