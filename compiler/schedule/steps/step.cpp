// Steps that are compositions of flows, and the state as an observer sees it.
#include "compiler/schedule/steps/step.hpp"

#include <algorithm>
#include <utility>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/flux.hpp"
#include "compiler/schedule/steps/limits.hpp"
#include "compiler/schedule/steps/step_end.hpp"

namespace vphi::schedule {
namespace {

using algebra::Arena;
using algebra::Op;

/// table[stage], without a branch.
Expr by_stage(Arena& arena, const std::vector<Expr>& table) {
  Expr value = table.back();
  const Expr stage = arena.symbol(slot::kStage);
  for (std::size_t i = table.size() - 1; i-- > 0;) {
    if (table[i] == value) continue;
    const Expr here = arena.make(Op::LessEqual, {stage, arena.integer(static_cast<int>(i))});
    value = arena.make(Op::Select, {here, table[i], value});
  }
  return value;
}

}  // namespace

std::optional<Stepping> make_flow_step(const Ingredients& from, const std::vector<Flow>& flows,
                                       bool ahead, Slots& slots, Storage& storage) {
  Arena& arena = *from.system.arena;
  std::vector<std::vector<Member>> members;
  std::vector<bool> exact, with_limit;
  for (const Group& group : from.groups) {
    const auto in_order_of_dependence = members_in_order_of_dependence(from.system, group);
    if (!in_order_of_dependence) return std::nullopt;
    members.push_back(*in_order_of_dependence);
    exact.push_back(is_exact(*in_order_of_dependence));
    with_limit.push_back(limited(from.system, group.arrays));
  }
  const Composition composition = compose(flows, exact, ahead, arena, with_limit);

  Stepping result;
  result.stages = composition.stages;
  Block block(from.system, slots, storage);
  State state = stored_state(from.system);
  const Expr dt = running_dt(from.system);
  for (const Run& run : composition.runs) {
    const Group& group = from.groups[static_cast<std::size_t>(run.equation)];
    for (const RunPart& part : run.parts) {
      const Expr owed = by_stage(arena, part.owed);
      const Expr weight =
          by_stage(arena, part.own) + (owed.is_zero() ? owed : owed * arena.symbol(slot::kStarted));
      const Expr length = block.scalar("h_" + group.variable, dt * weight);
      advance(block, members[static_cast<std::size_t>(run.equation)], length, state,
              result.remarks);
      limit_updated(block, state, group.arrays, length);
    }
  }
  fold_angles(block, state);
  Wanted wanted = wanted_state(from.system, state);
  const std::vector<Item> carried = carry(from, block, state, wanted, result);
  result.sweeps = make_site_loops(block, wanted);
  const auto finish = finish_of(state);
  result.finish.insert(result.finish.end(), finish.begin(), finish.end());
  const Expr full_dt = arena.real(from.system.dt);
  if (const int e = composition.owed_equation; e >= 0) {
    result.missing_members = members[static_cast<std::size_t>(e)];
    for (Expr weight : composition.owed) {
      result.missing.push_back(full_dt * weight * arena.symbol(slot::kStarted));
    }
    result.remarks.insert("the last " + from.groups[static_cast<std::size_t>(e)].variable +
                          " update of a step is joined with the first of the next; output sees it "
                          "done");
  }
  if (const int e = composition.ahead_equation; e >= 0) {
    result.missing_members = members[static_cast<std::size_t>(e)];
    Block before(from.system, slots, storage);
    State start = stored_state(from.system);
    const bool joined = !exact[static_cast<std::size_t>(e)] && composition.before_ahead;
    for (Expr weight : composition.ahead) {
      if (!joined) result.missing.insert(result.missing.begin(), -(full_dt * weight));
      advance(before, result.missing_members, full_dt * weight, start, result.remarks);
    }
    if (joined) {
      // Two successive flows are not one flow of the summed length here, so half of the joined flow
      // cannot be undone. All of it is undone and the last run of the step is repeated.
      const Expr started = arena.symbol(slot::kStarted), last = composition.before_ahead;
      result.missing = {-(full_dt * (composition.ahead[0] + last * started)),
                        full_dt * last * started};
    }
    Wanted wanted_first = wanted_state(from.system, start);
    first_carried(before, start, carried, wanted_first);
    wanted_first.name = "first";
    result.first = make_site_loops(before, wanted_first);
    result.first_finish = finish_of(start);
    result.remarks.insert("the first " + from.groups[static_cast<std::size_t>(e)].variable +
                          " update of a step is done with the last of the step before; output "
                          "sees it undone");
  }
  if (composition.ahead_equation < 0) start_carried(from, carried, slots, storage, result);
  const bool some_inexact = std::ranges::count(exact, false) > 0;
  if (some_inexact && from.integrator.weights.size() == 1 && composition.runs.size() > 2) {
    result.remarks.insert(
        "variables that move together depend on each other here, and each such move is of order "
        "2: an integrator of higher order keeps its order when it is written with `compose`");
  }
  return result;
}

State synchronised(Block& block, const Stepping& stepping) {
  State state = stored_state(block.system());
  std::set<std::string> remarks;
  for (Expr length : stepping.missing) {
    advance(block, stepping.missing_members, block.scalar("missing", length), state, remarks);
  }
  // clocks of constant rate are not summed up: they are computed from the number of steps
  const physics::System& system = block.system();
  for (const auto& s : system.scalars) {
    const Expr exact = clock_time(system, s, block.arena().symbol(slot::kStep));
    if (exact) state.scalars[s.symbol] = exact;
  }
  add_recovered(block, state);
  return state;
}

}  // namespace vphi::schedule
