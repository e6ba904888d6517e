#include "compiler/schedule/steps/markov_step.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/flow.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {

using algebra::Op;

namespace {

constexpr const char* kColour = "colour";  ///< of the kernel that runs next
constexpr const char* kTaken = "taken";    ///< proposals that a launch has accepted
constexpr const char* kOfSweep = "taken_in_sweep";

/// The last axis along which sites of a colour can be counted, so that neighbours in memory have
/// neighbouring numbers.
int counting_axis(const physics::System& system, kernel::Colours colours) {
  for (int axis = system.lattice.dims - 1; axis >= 0; --axis) {
    colours.axis = axis;
    const auto extent = system.lattice.extent[static_cast<std::size_t>(axis)];
    if (colours.inverse() >= 0 && extent % colours.modulus == 0) return axis;
  }
  return 0;  // the verifier reports the error
}

}  // namespace

kernel::Kernel coloured_kernel(const physics::System& system, const physics::Update& update,
                               const std::string& colour, const std::string& still,
                               const Storage& storage) {
  kernel::Kernel k = lattice_kernel(system, update.name);
  k.comment = update.shown;
  k.still = still;
  kernel::Colours colours{update.modulus, update.weights, 0, colour};
  colours.axis = counting_axis(system, colours);
  k.colours = colours;
  if (update.accepted) {
    k.sum = kernel::SumKind::F64;
    k.reductions.push_back({kTaken, kernel::ReduceKind::Sum, update.accepted});
  }
  for (const auto& [array, value] : update.values) k.stores.push_back({array, value});
  declare_arrays(k, storage);
  return k;
}

Expr next_colour(Expr colour, const physics::Update& update) {
  algebra::Arena& arena = *colour->arena;
  const Expr next = colour + arena.integer(1);
  const Expr more = arena.make(Op::Less, {next, arena.integer(update.modulus)});
  return arena.make(Op::Select, {more, next, arena.integer(0)});
}

namespace {

/// Computes the acceptance rate at the end of a sweep. A run that has ended keeps its value.
void count_accepted(const physics::MarkovChain& chain, algebra::Arena& arena, Slots& slots,
                    Stepping& result) {
  const Expr stop = arena.symbol(slot::kStop), none = arena.integer(0);
  const Expr share = arena.symbol(kOfSweep) / arena.integer(chain.proposals);
  const char* last = physics::MarkovChain::kAccept;
  const char* all = physics::MarkovChain::kAccepted;
  slots.add(last, 1);
  slots.add(all);
  result.finish.push_back({last, arena.make(Op::Select, {stop, arena.symbol(last), share})});
  result.finish.push_back(
      {all, arena.symbol(all) + arena.make(Op::Select, {stop, none, arena.symbol(last)})});
  result.finish.push_back({kOfSweep, none});
}

/// Whether an update of the chain draws random numbers: they hide errors of 1e-6 in those of its
/// updates that draw none as well.
bool draws_numbers(const physics::MarkovChain& chain) {
  return std::ranges::any_of(chain.updates, [](const physics::Update& update) {
    return std::ranges::any_of(update.values, [](const auto& value) {
      return algebra::contains(value.second,
                               [](Expr e) { return e.is(Op::Uniform) || e.is(Op::Normal); });
    });
  });
}

}  // namespace

Stepping make_markov_step(const physics::System& system, const physics::MarkovChain& chain,
                          Slots& slots, Storage& storage) {
  algebra::Arena& arena = *system.arena;
  slots.add(kColour);
  const bool counts = chain.proposals > 0;
  for (const char* slot : {kTaken, kOfSweep})
    if (counts) slots.add(slot);
  Stepping result;
  const bool random = draws_numbers(chain);
  for (const physics::Update& update : chain.updates) {
    FluxPart& part = result.parts.emplace_back();
    part.sweeps.sweeps.push_back(
        {coloured_kernel(system, update, kColour, slot::kStop, storage), {}, {}});
    part.sweeps.sweeps.back().kernel.fast = random;
    part.sweeps.swaps.emplace_back();
    part.finish.push_back({kColour, next_colour(arena.symbol(kColour), update)});
    if (update.accepted)
      part.finish.push_back({kOfSweep, arena.symbol(kOfSweep) + arena.symbol(kTaken)});
    result.remarks.insert(update.shown);
    for (const std::string& line : update.proof) result.remarks.insert(line);
  }
  std::size_t launches = 0;
  for (const std::vector<int>& sweep : chain.cycle) {
    std::vector<int>& order = result.cycle.emplace_back();
    for (const int update : sweep) {
      const int colours = chain.updates[static_cast<std::size_t>(update)].modulus;
      order.insert(order.end(), static_cast<std::size_t>(colours), update);
    }
    launches = std::max(launches, order.size());
  }
  if (!chain.updates.empty())
    result.remarks.insert(fmt::format("a sweep is {} launches of {} kernels, in place", launches,
                                      chain.updates.size()));
  move_clocks(system, slots, storage, result);  // time is the sweep's number
  if (counts) count_accepted(chain, arena, slots, result);
  return result;
}

}  // namespace vphi::schedule
