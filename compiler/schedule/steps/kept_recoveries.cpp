#include "compiler/schedule/steps/kept_recoveries.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using physics::Derived;

/// Whether the value reads the site itself, and of the scalars that a step moves only clocks.
bool at_the_site(const physics::System& system, const State& stored, Expr value) {
  return !algebra::contains(value, [&](Expr node) {
    if (node.is(Op::Load)) return !node->offset.zero();
    if (node.is(Op::Symbol))
      return stored.scalars.contains(node->name) && !is_clock(system, node->name);
    return takes_other_sites(node);
  });
}

/// The arrays of recovered values that the block takes from memory.
std::set<int> read_from_memory(const Block& block) {
  std::set<int> recovered, read;
  for (const Derived& value : block.system().conservation->recovered) recovered.insert(value.array);
  for (const Item& item : block.items())
    for (const Expr node : algebra::reads(item.value)) {
      const int array = (node.is(Op::Stencil) ? node.arg(0) : node)->index;
      if (recovered.contains(array)) read.insert(array);
    }
  return read;
}

/// Recovers the state, and wants the values of these arrays in their memory.
void recover_into(Block& block, const std::optional<Recovered>& last, const std::set<int>& arrays,
                  State& state, Wanted& wanted) {
  recover(block.system(), last, state, [&](const Derived& value, const State& from, auto& chosen) {
    const Expr made = chosen(in_order(from, value.value));
    if (!arrays.contains(value.array)) return made;
    const Expr load = block.array(value.name, made, value.array);
    wanted.arrays[value.array] = load;
    return load;
  });
}

}  // namespace

bool can_keep_recovered(const physics::System& system) {
  if (!system.conservation || system.conservation->recovered.empty()) return false;
  const State stored = stored_state(system);
  const auto local = [&](const Derived& value) {
    return at_the_site(system, stored, value.value) &&
           (!value.from_recovered || at_the_site(system, stored, value.from_recovered));
  };
  return std::ranges::all_of(system.conservation->recovered, local) &&
         std::ranges::all_of(system.limits, local);
}

bool is_stored(const physics::System& system, const State& state) {
  const State stored = stored_state(system);
  const auto same = [&](const auto& entry) {
    const auto found = state.arrays.find(entry.first);
    return found != state.arrays.end() && found->second == entry.second;
  };
  return std::ranges::all_of(stored.arrays, same) &&
         std::ranges::all_of(stored.scalars, [&](const auto& entry) {
           const auto found = state.scalars.find(entry.first);
           return found != state.scalars.end() && found->second == entry.second;
         });
}

void add_kept(const physics::System& system, State& state) {
  std::map<const algebra::Node*, int> made;  // of values with two names, the first
  for (const Derived& value : system.conservation->recovered) {
    const int array = made.emplace(value.value.get(), value.array).first->second;
    const bool name = value.value.is(Op::Load) && value.value->offset.zero();
    state.arrays[value.array] = name ? at(state, value.value) : system.arena->load(array);
  }
}

void keep_recovered(Block& block, const std::optional<Recovered>& last, State& end,
                    Wanted& wanted) {
  const std::set<int> arrays = read_from_memory(block);
  for (const Derived& value : block.system().conservation->recovered) {
    if (!arrays.contains(value.array)) continue;
    program::Buffer buffer;
    buffer.name = value.name;
    buffer.precision = block.system().numerics.store;
    block.storage().allocate(value.array, buffer);
  }
  recover_into(block, last, arrays, end, wanted);
}

void first_recovered(Block& before, const Wanted& step, State& start, Wanted& wanted) {
  const physics::System& system = before.system();
  const std::optional<Recovered> last = apply_limits(before, start);
  define_limited(before, start);
  for (const Derived& limit : system.limits)
    wanted.arrays[limit.array] = start.arrays.at(limit.array);
  std::set<int> arrays;
  for (const Derived& value : system.conservation->recovered)
    if (step.arrays.contains(value.array)) arrays.insert(value.array);
  recover_into(before, last, arrays, start, wanted);
}

}  // namespace vphi::schedule
