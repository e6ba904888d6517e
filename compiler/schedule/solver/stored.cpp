#include "compiler/schedule/solver/stored.hpp"

#include "compiler/schedule/solver/solver_column.hpp"
#include "compiler/schedule/solver/solver_kept.hpp"

namespace vphi::schedule {

SolveLoops make_stored(const physics::System& system, const physics::LinearSystem& solve,
                       const Stepping& stepping, Slots& slots, Storage& storage) {
  SolveLoops result;
  Block block(system, slots, storage);
  Wanted wanted;
  const State here = synchronised(block, stepping);
  for (std::size_t i = 0; i < solve.arrays.size(); ++i)
    wanted.arrays[solve.arrays[i]] = block.array("stored", at(here, solve.source[i]));
  SiteLoops made = solve_loops(block, wanted, name_of(solve), true);
  result.alone = std::move(made.alone);
  result.start = sequence_of(std::move(made));
  return result;
}

}  // namespace vphi::schedule
