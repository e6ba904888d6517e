#include "compiler/schedule/steps/limits.hpp"

#include <algorithm>
#include <functional>

#include "compiler/kernel/passes.hpp"

namespace vphi::schedule {

using algebra::Op;
using physics::Derived;

namespace {

/// Applies limits to a state. `made` gives the array's value to use from its new and its previous
/// value.
void apply(const std::vector<Derived>& limits, State& state,
           const std::function<bool(const Derived&)>& chosen,
           const std::function<Expr(const Derived&, const State& before)>& made) {
  for (std::size_t i = 0; i < limits.size();) {
    const State before = state;
    const int clause = limits[i].clause;
    for (; i < limits.size() && limits[i].clause == clause; ++i)
      if (chosen(limits[i])) state.arrays[limits[i].array] = made(limits[i], before);
  }
}

}  // namespace

bool limited(const physics::System& system, const std::vector<int>& arrays) {
  return !system.conservation && std::ranges::any_of(system.limits, [&](const Derived& limit) {
    return std::ranges::count(arrays, limit.array) > 0;
  });
}

void apply_limits(Block& block, State& state) {
  // the operations of a flux scheme keep their order
  apply(
      block.system().limits, state, [](const Derived&) { return true; },
      [](const Derived& limit, const State& before) {
        return kernel::with_fixed_order(at(before, kernel::with_fixed_order(limit.value)));
      });
}

void limit_updated(Block& block, State& state, const std::vector<int>& arrays, Expr length) {
  const physics::System& system = block.system();
  if (!limited(system, arrays)) return;
  algebra::Arena& arena = block.arena();
  const Expr still = arena.make(Op::Equal, {length, arena.integer(0)});
  apply(
      system.limits, state,
      [&](const Derived& limit) { return std::ranges::count(arrays, limit.array) > 0; },
      [&](const Derived& limit, const State& before) {
        const Expr old = before.arrays.at(limit.array);
        const Expr value = arena.make(Op::Select, {still, old, at(before, limit.value)});
        return block.array(name_of(system, limit.array), value, limit.array);
      });
}

}  // namespace vphi::schedule
