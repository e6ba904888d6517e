#include "compiler/schedule/outputs/initial.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

using algebra::Op;

namespace {

/// Random arrays that a value reads.
std::set<int> random_reads(const physics::System& system, Expr value) {
  std::set<int> arrays;
  for (const Expr read : algebra::reads(value)) {
    const int array = read.is(Op::Load) ? read->index : -1;
    for (const physics::RandomField& random : system.random) {
      if (random.array == array) arrays.insert(array);
    }
  }
  return arrays;
}

/// Random arrays are needed once and take memory beside the state, so a sweep reads two at most:
/// as many as the second copies of two fields can lend. Stores of a sweep are independent of each
/// other; its scalars stay with its last part.
std::vector<kernel::SiteLoop> with_few_random_arrays(const physics::System& system,
                                                     const kernel::SiteLoop& loop) {
  constexpr std::size_t kAtOnce = 2;
  std::vector<std::vector<kernel::Store>> parts(1);
  std::set<int> here;
  for (const kernel::Store& store : loop.kernel.stores) {
    const std::set<int> wanted = random_reads(system, store.value);
    std::set<int> together = here;
    together.insert(wanted.begin(), wanted.end());
    if (together.size() > kAtOnce && !parts.back().empty()) {
      parts.emplace_back();
      together = wanted;
    }
    here = together;
    parts.back().push_back(store);
  }
  if (parts.size() == 1 || !loop.kernel.reductions.empty()) return {loop};
  std::vector<kernel::SiteLoop> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    kernel::SiteLoop part = loop;
    part.kernel.stores = parts[i];
    if (i > 0) {
      part.kernel.name += "_part_" + std::to_string(i + 1);
      part.before.clear();
    }
    if (i + 1 < parts.size()) part.kernel.epilogue.clear();
    std::erase_if(part.kernel.arrays, [&](const kernel::ArrayParam& param) {
      return std::ranges::none_of(part.kernel.stores, [&](const kernel::Store& store) {
        return store.array == param.array || algebra::contains(store.value, [&](Expr node) {
                 return node.is(Op::Load) && node->index == param.array;
               });
      });
    });
    for (kernel::ArrayParam& param : part.kernel.arrays) {
      param.written = std::ranges::any_of(
          part.kernel.stores, [&](const kernel::Store& s) { return s.array == param.array; });
    }
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace

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
  // A scalar is computed when a value needs it first, from the state as it is then.
  std::vector<kernel::ScalarAssign> finish;
  std::vector<std::string> wanted_slots;
  const std::function<void(const physics::ScalarVariable&)> set_scalar =
      [&](const physics::ScalarVariable& s) {
        if (state.scalars.contains(s.symbol)) return;
        for (const auto& other : system.scalars) {
          if (&other != &s && algebra::depends_on(s.initial, arena.symbol(other.symbol))) {
            set_scalar(other);
          }
        }
        const Expr value = block.scalar(s.symbol + "_start", at(state, s.initial));
        state.scalars[s.symbol] = value;
        finish.push_back({s.symbol, value});
        if (value.is(Op::Symbol)) wanted_slots.push_back(value->name);
      };
  for (const physics::InitialValue& initial : system.initial) {
    for (const auto& s : system.scalars) {
      if (algebra::depends_on(initial.value, arena.symbol(s.symbol))) set_scalar(s);
    }
    state.arrays[initial.array] =
        block.array(name_of(system, initial.array), at(state, initial.value), initial.array);
  }
  for (const auto& v : system.variables) {
    Expr& value = state.arrays[v.array];
    if (!value.is(Op::Load)) value = block.array(v.name, value, v.array);
  }
  for (const auto& s : system.scalars) set_scalar(s);

  Wanted wanted;
  wanted.name = "initial";
  wanted.slots = wanted_slots;
  for (const auto& v : system.variables) wanted.arrays[v.array] = state.arrays.at(v.array);
  SiteLoops sweeps = make_site_loops(block, wanted);
  Initial result;
  for (std::size_t i = 0; i < sweeps.sweeps.size(); ++i) {
    for (kernel::SiteLoop& part : with_few_random_arrays(system, sweeps.sweeps[i])) {
      result.chain.sweeps.push_back(std::move(part));
      result.chain.swaps.emplace_back();
    }
    result.chain.swaps.back() = sweeps.swaps[i];
  }
  result.chain.finish = std::move(finish);
  result.alone = std::move(sweeps.alone);
  return result;
}

bool kernels_of_start_draw(const physics::System& system) {
  return std::ranges::any_of(system.initial, [](const physics::InitialValue& start) {
    return algebra::contains(start.value,
                             [](Expr node) { return node.is(Op::Normal) || node.is(Op::Uniform); });
  });
}

}  // namespace vphi::schedule
