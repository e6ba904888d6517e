#include "compiler/schedule/steps/recentring.hpp"

#include "compiler/schedule/steps/step_end.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using physics::Variable;

/// What an array holds loses `part` of its mean, and its reference gains it.
void shift(Block& block, const Variable& v, Expr part, State& state) {
  algebra::Arena& arena = block.arena();
  const Expr held = arena.load(v.array);
  const Expr mean = block.scalar("shift_" + v.name, part * arena.make(Op::Mean, {held}));
  state.arrays[v.array] = block.array(v.name, held - mean, v.array);
  state.scalars[v.reference] =
      block.scalar(v.reference + "_next", arena.symbol(v.reference) + mean);
}

}  // namespace

LoopSequence recentring(const physics::System& system, Slots& slots, Storage& storage) {
  algebra::Arena& arena = *system.arena;
  Block block(system, slots, storage);
  State state = stored_state(system);
  bool any = false;
  for (const Variable& v : system.variables) {
    if (v.reference.empty() || v.role != physics::Role::Coordinate) continue;
    any = true;
    const Expr held = arena.load(v.array);
    const Expr mean = block.scalar("mean_" + v.name, arena.make(Op::Mean, {held}));
    const Expr square = arena.make(Op::Mean, {held * held});
    // <d>^2 > <d^2> - <d>^2, while the run goes on
    const Expr far = arena.make(Op::Less, {square, arena.integer(2) * mean * mean});
    const Expr goes_on = arena.integer(1) - arena.symbol(slot::kStop);
    const Expr part = block.scalar("recentre_" + v.name,
                                   arena.make(Op::Select, {far, goes_on, arena.integer(0)}));
    shift(block, v, part, state);
    if (const Variable* momentum = variable_of(system, v.partner)) {
      if (!momentum->reference.empty()) shift(block, *momentum, part, state);
    }
  }
  if (!any) return {};
  Wanted wanted = wanted_state(system, state);
  wanted.name = "recentre";
  return sequence_of(make_site_loops(block, wanted), finish_of(state));
}

}  // namespace vphi::schedule
