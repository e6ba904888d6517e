#include "compiler/schedule/initial.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/flow.hpp"

namespace vphi::schedule {

using algebra::Op;

Initial initial_state(const physics::System& system, Slots& slots, Storage& storage) {
  Block block(system, slots, storage);
  algebra::Arena& arena = *system.arena;
  State state;
  for (const auto& v : system.variables) state.arrays[v.array] = arena.integer(0);
  for (const auto& s : system.scalars) {
    const auto number = algebra::constant(s.initial);
    slots.add(s.symbol, number ? static_cast<double>(number->real) : 0);
    if (number) state.scalars[s.symbol] = arena.number(*number);
  }
  const auto reads_arrays = [&](Expr value) {
    return algebra::contains(value, [](Expr node) { return node.is(Op::Load); });
  };
  std::vector<kernel::ScalarAssign> finish;
  std::vector<std::string> wanted_slots;
  const auto set_scalars = [&](bool with_arrays) {
    for (const auto& s : system.scalars) {
      if (state.scalars.contains(s.symbol) || reads_arrays(s.initial) != with_arrays) continue;
      const Expr value = block.scalar(s.symbol + "_start", at(state, s.initial));
      state.scalars[s.symbol] = value;
      finish.push_back({s.symbol, value});
      if (value.is(Op::Symbol)) wanted_slots.push_back(value->name);
    }
  };
  set_scalars(false);
  for (const physics::InitialValue& initial : system.initial) {
    state.arrays[initial.array] =
        block.array(name_of(system, initial.array), at(state, initial.value), initial.array);
  }
  for (const auto& v : system.variables) {
    Expr& value = state.arrays[v.array];
    if (!value.is(Op::Load)) value = block.array(v.name, value, v.array);
  }
  set_scalars(true);

  Wanted wanted;
  wanted.name = "initial";
  wanted.slots = wanted_slots;
  for (const auto& v : system.variables) wanted.arrays[v.array] = state.arrays.at(v.array);
  Sweeps sweeps = make_sweeps(block, wanted);
  Initial result;
  result.chain.sweeps = std::move(sweeps.sweeps);
  result.chain.swaps = std::move(sweeps.swaps);
  result.chain.finish = std::move(finish);
  result.alone = std::move(sweeps.alone);
  return result;
}

}  // namespace vphi::schedule
