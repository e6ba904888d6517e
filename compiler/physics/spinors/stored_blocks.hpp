// Systems at half of the sites whose part at the site holds links (a clover term): R at odd and
// R^-1 at even sites are matrices in memory (site_blocks.hpp), which are made from the links before
// the rounds.
//
// Values that are only stored are a LinearSystem without an operator and without rounds, so that
// their order among other systems follows from what reads what. Nothing here fails.
#pragma once

#include <optional>

#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The system of an operator at odd sites; nothing where its terms or the box do not allow it.
/// `asked`: the call, for the line of what is stored. Uses new array numbers, and adds systems to
/// `collected.solves`.
std::optional<EvenOddSystem> system_of_halves(const Program& d, const SpinorForm& form,
                                              gauge::LinkOf link, int colours, dsl::Span asked);

/// Whether the system is a right side that is stored, and nothing else.
bool only_stored(const LinearSystem& system);

}  // namespace vphi::physics
