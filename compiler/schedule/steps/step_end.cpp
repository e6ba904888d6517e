#include "compiler/schedule/steps/step_end.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/displacement.hpp"

namespace vphi::schedule {

using algebra::Arena;
using algebra::Op;

Expr running_dt(const physics::System& system) {
  Arena& arena = *system.arena;
  return arena.real(system.dt) * (arena.integer(1) - arena.symbol(slot::kStop));
}

void fold_angles(Block& block, State& state) {
  Arena& arena = block.arena();
  for (const auto& v : block.system().variables) {
    if (v.period == 0) continue;
    Expr& x = state.arrays.at(v.array);
    if (x->index == v.array) continue;  // not moved
    const Expr winding = arena.make(Op::Floor, {x * arena.real(1 / v.period)});
    x = block.array(v.name, x - arena.real(v.period) * winding, v.array);
    if (const physics::Variable* counter = physics::winding_of(block.system(), v)) {
      Expr& n = state.arrays.at(counter->array);
      n = block.array(counter->name, n + winding, counter->array);
    }
  }
}

Wanted wanted_state(const physics::System& system, const State& state) {
  Wanted wanted;
  for (const auto& v : system.variables) {
    const Expr value = state.arrays.at(v.array);
    if (!(value->index == v.array)) wanted.arrays[v.array] = value;
  }
  for (const auto& [name, value] : state.scalars) {
    if (value.is(Op::Symbol) && value->name != name) wanted.slots.push_back(value->name);
  }
  return wanted;
}

std::vector<kernel::ScalarAssign> finish_of(const State& state) {
  std::vector<kernel::ScalarAssign> finish;
  for (const auto& [name, value] : state.scalars) {
    if (!(value.is(Op::Symbol) && value->name == name)) finish.push_back({name, value});
  }
  return finish;
}

namespace {

/// The slot of a reduction that the block makes already; null: it makes none.
Expr known_reduction(const Block& block, kernel::ReduceKind kind, Expr value) {
  for (const Item& item : block.items())
    if (item.kind == Item::Kind::Reduction && item.parity < 0 && item.reduce == kind &&
        item.value == value)
      return block.arena().symbol(item.name);
  return {};
}

}  // namespace

std::vector<Item> carry(const Ingredients& from, Block& block, const State& end, Wanted& wanted,
                        Stepping& result) {
  if (!from.carries) {
    Block copy = block;
    result.can_carry = !copy.take_carried().empty();
    return {};
  }
  const std::vector<Item> carried = block.take_carried();
  for (const Item& item : carried) {
    const Expr value = at(end, item.value);
    if (const Expr known = known_reduction(block, item.reduce, value)) {
      wanted.slots.push_back(known->name);
      result.finish.push_back({item.name, known});
      continue;
    }
    const std::string next = block.slots().fresh(item.name + "_next");
    block.reduce(next, item.reduce, value);
    wanted.slots.push_back(next);
    result.finish.push_back({item.name, block.arena().symbol(next)});
  }
  return carried;
}

void first_carried(Block& before, const State& start, const std::vector<Item>& carried,
                   Wanted& wanted) {
  for (const Item& item : carried) {
    before.reduce(item.name, item.reduce, at(start, item.value));
    wanted.slots.push_back(item.name);
  }
}

void start_carried(const Ingredients& from, const std::vector<Item>& carried, Slots& slots,
                   Storage& storage, Stepping& result) {
  if (carried.empty()) return;
  Block before(from.system, slots, storage);
  const State start = stored_state(from.system);
  Wanted wanted;
  first_carried(before, start, carried, wanted);
  wanted.name = "first";
  result.first = make_site_loops(before, wanted);
}

void move_clocks(const physics::System& system, Slots& slots, Storage& storage, Stepping& result) {
  algebra::Arena& arena = *system.arena;
  Block block(system, slots, storage);
  State state = stored_state(system);
  const Expr dt = arena.real(system.dt) * (arena.integer(1) - arena.symbol(slot::kStop));
  Wanted wanted;
  for (const physics::ScalarVariable& s : system.scalars) {
    if (s.rate.is_zero()) continue;
    move_scalar(block, s.symbol, state.scalars.at(s.symbol), dt * s.rate, state);
  }
  for (const auto& [name, value] : state.scalars) {
    if (value.is(algebra::Op::Symbol) && value->name == name) continue;
    if (value.is(algebra::Op::Symbol)) wanted.slots.push_back(value->name);
    result.finish.push_back({name, value});
  }
  result.sweeps = make_site_loops(block, wanted);
}

}  // namespace vphi::schedule
