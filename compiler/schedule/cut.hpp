// Cuts the lattice of a plan for one of several ranks.
//
// In: the plan for the whole lattice, and how many ranks share it. Out: the plan of one rank, whose
// memory holds its own planes and, below and above them, ghosts as deep as the deepest read
// (program::Cut). Kernels compute own planes alone. They know nothing of the ends of the lattice
// along the cut axis: the ghosts there hold what the boundary says. Coordinates are those
// of the whole lattice: emitters add the number of the first own plane, a scalar, where they fill
// in the place of a site (emit/text/body.hpp), so that what a site computes has one text on all
// ranks, and ranks with as many planes have the same program. Which halos are filled when is the
// next stage (exchange.hpp).
//
// The planes of a single row are its sites. What a sum over pairs reads of the other ranks are
// ghosts too: all other sites, behind the own ones in cyclic order.
//
// A kernel of sums alone whose sites read farther away than a rank has planes, such as a product of
// links along the whole axis, is computed by each rank of the whole lattice, from gathered arrays.
//
// The next faster axis may be cut too: a rank then has some lines of each of its planes, with
// ghosts beside them. Cuts of it lie between slabs of a plane, and all ranks have as many lines.
//
// A cut lies between slabs (kernel/slabs.hpp) and at a multiple of the number of colours, so that
// every site has the colour that it has in the whole lattice. Where a device stores classes of
// sites apart (program::SiteOrder), it also lies at a multiple of their number, and so do ghosts
// begin.
#pragma once

#include <optional>
#include <string>

#include "compiler/model/plan.hpp"
#include "dsl/syntax/text.hpp"

namespace vphi::schedule {

/// Why a plan cannot be cut.
struct NotCut {
  std::string why;  ///< completes "the lattice cannot be cut for 4 ranks: ..."
  std::string way;  ///< the way out
  dsl::Span span;   ///< of the model; empty: the lattice itself
};

/// Which part of the lattice the plan becomes.
struct Place {
  int ranks = 1, rank = 0;
  int beside =
      1;  ///< ranks along the second axis, a divisor of `ranks`: rank % beside is the place
  std::int64_t classes = 1;  ///< of sites in memory: cuts and ghosts are whole multiples
};

/// `planes`: slabs have so many, or a fourth of the lattice, where that is less.
/// `plan` is unchanged where the result is not empty.
std::optional<NotCut> cut(Plan& plan, const Place& place, std::int64_t planes = 1);

}  // namespace vphi::schedule
