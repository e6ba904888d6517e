// Which links or sites a chain updates at once: those of one colour (compiler/gauge/colouring.hpp).
#pragma once

#include <string>
#include <vector>

#include "compiler/gauge/colouring.hpp"
#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

/// What gets colours, for messages.
struct Coloured {
  std::string members;  ///< "links", "sites"
  std::string shared;   ///< what two of them in conflict share: "loop of the action"
  std::string of;       ///< whose conflicts these are: "loops of 4 links", "`phi`"
};

/// A colouring in which nothing of one colour is in conflict, proved for every site of the box.
/// Fails with E0773 where no colouring fits an extent.
gauge::Colouring colouring_of(const Motion& d, const std::vector<algebra::Offset>& conflicts,
                              const Coloured& what);

/// "2 colours, (x + y) mod 2".
std::string colours_text(const gauge::Colouring& colouring, int dims);

}  // namespace vphi::physics
