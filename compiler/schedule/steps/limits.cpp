#include "compiler/schedule/steps/limits.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "compiler/kernel/passes.hpp"

namespace vphi::schedule {

using algebra::Op;
using physics::Derived;

namespace {

/// Limits clause by clause, with the state before each.
void by_clause(const std::vector<Derived>& limits, const State& state,
               const std::function<void(std::span<const Derived>, const State& before)>& apply) {
  for (std::size_t i = 0; i < limits.size();) {
    const std::size_t begin = i;
    while (i < limits.size() && limits[i].clause == limits[begin].clause) ++i;
    apply(std::span(limits).subspan(begin, i - begin), State(state));
  }
}

/// The state with recovered values.
State recovered_in(const physics::System& system, const State& state,
                   const std::optional<Recovered>& last) {
  State made = state;
  recover(system, last, made, [&](const Derived& value, const State& from, const auto& chosen) {
    return chosen(in_order(from, value.value));
  });
  return made;
}

/// Whether these limits, applied to a state, have left it as it was.
Expr kept(algebra::Arena& arena, std::span<const Derived> limits, const State& before,
          const State& after) {
  Expr all;
  for (const Derived& limit : limits) {
    const Expr same =
        arena.raw(Op::Equal, {before.arrays.at(limit.array), after.arrays.at(limit.array)});
    all = all ? arena.raw(Op::And, {all, same}) : same;
  }
  return all;
}

}  // namespace

Expr in_order(const State& state, Expr value) {
  return kernel::with_fixed_order(at(state, kernel::with_fixed_order(value)));
}

bool limited(const physics::System& system, const std::vector<int>& arrays) {
  return !system.conservation && std::ranges::any_of(system.limits, [&](const Derived& limit) {
    return std::ranges::count(arrays, limit.array) > 0;
  });
}

void recover(const physics::System& system, const std::optional<Recovered>& last, State& state,
             const MakeRecovered& made) {
  const std::vector<Derived>& recovered = system.conservation->recovered;
  for (std::size_t i = 0; i < recovered.size();) {
    // names that are iterated together start from the values that all of them had
    const int group = recovered[i].clause;
    std::size_t end = i + 1;
    while (group > 0 && end < recovered.size() && recovered[end].clause == group) ++end;
    State from = state;
    for (std::size_t k = i; last && k < end; ++k)
      from.arrays[recovered[k].array] = last->state.arrays.at(recovered[k].array);
    for (; i < end; ++i) {
      Derived value = recovered[i];
      const bool iterated = last && value.from_recovered;
      if (iterated) value.value = value.from_recovered;
      state.arrays[value.array] = made(value, from, [&](Expr found) {
        const Expr before = from.arrays[value.array];
        return iterated && last->kept ? system.arena->raw(Op::Select, {last->kept, before, found})
                                      : found;
      });
    }
  }
}

std::optional<Recovered> apply_limits(Block& block, State& state,
                                      const std::optional<Recovered>& last) {
  std::optional<Recovered> recovered = last;
  by_clause(block.system().limits, state, [&](auto clause, const State& before) {
    const bool reads =
        std::ranges::any_of(clause, [](const Derived& l) { return bool(l.from_recovered); });
    if (reads)
      recovered = Recovered{recovered_in(block.system(), before, recovered), {}};
    else
      recovered = last;
    for (const Derived& limit : clause) {
      state.arrays[limit.array] = limit.from_recovered
                                      ? in_order(recovered->state, limit.from_recovered)
                                      : in_order(before, limit.value);
    }
    if (reads) recovered->kept = kept(block.arena(), clause, before, state);
  });
  return recovered;
}

void define_limited(Block& block, State& state) {
  for (const Derived& limit : block.system().limits) {
    Expr& value = state.arrays.at(limit.array);
    value = block.array(name_of(block.system(), limit.array), value, limit.array);
  }
}

void limit_updated(Block& block, State& state, const std::vector<int>& arrays, Expr length) {
  const physics::System& system = block.system();
  if (!limited(system, arrays)) return;
  algebra::Arena& arena = block.arena();
  const Expr still = arena.make(Op::Equal, {length, arena.integer(0)});
  by_clause(system.limits, state, [&](auto clause, const State& before) {
    for (const Derived& limit : clause) {
      if (std::ranges::count(arrays, limit.array) == 0) continue;
      const Expr old = before.arrays.at(limit.array);
      const Expr value = arena.make(Op::Select, {still, old, at(before, limit.value)});
      state.arrays[limit.array] = block.array(name_of(system, limit.array), value, limit.array);
    }
  });
}

}  // namespace vphi::schedule
