// The loop over sites side by side, in the lanes of vectors.
//
// Where the site function is in parts (Body::loops), each part is a loop over the lanes, and so is
// a round of an iteration, which clang vectorises. The rounds end when no lane needs another one: a
// round is a function of the values that the round before hands on, so a lane is done where a round
// changes nothing, or where values come round again and this round has those of the last round. A
// lane that is done while others are not makes rounds as well, with the bits that it would have
// alone.
#pragma once

#include <cstdint>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// Lanes of a strip of a row: several vectors, so that the operations of one fill the pauses of
/// another.
inline std::int64_t lanes_of_strip(Precision real) { return 256 / bytes_of(real); }

struct SiteLoop {
  Code head;               ///< "for (...) {" with its pragma
  Code lane;               ///< number of the lane of the loop's index
  std::int64_t lanes = 1;  ///< at most
  Code gather;             ///< statements that fill `in`, which is declared here
  Code results;            ///< what becomes of `out`
  Code before = Code();    ///< statements before `in`
};

/// The loop over the lanes; `in` and `out` are its structs of the site function.
Code site_loop(const Job& job, const SiteLoop& loop);

}  // namespace vphi::emit
