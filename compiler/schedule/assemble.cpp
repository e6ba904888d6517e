#include "compiler/schedule/assemble.hpp"

#include <algorithm>

#include "compiler/schedule/facts.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/shared_sums.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/schedule/steps/recentring.hpp"

namespace vphi::schedule {
namespace {

/// Adds the maps to the program, to be made after the last launch.
void add_maps(const std::vector<ArrayMap>& maps, const Storage& storage, Launches& launches,
              program::Program& p) {
  const auto buffers = [&](const std::vector<int>& arrays) {
    std::vector<int> result;
    for (const int array : arrays) result.push_back(static_cast<int>(storage.buffer_index(array)));
    return result;
  };
  for (const ArrayMap& map : maps) {
    launches.back().maps.push_back(static_cast<int>(p.maps.size()));
    program::FourierMap& own = p.maps.emplace_back(map.map);
    own.from = buffers(map.from);
    own.to = buffers(map.to);
  }
}

/// What runs before the first step, and in each.
struct StepLaunches {
  Launches initial;             ///< makes the start
  Launches prologue;            ///< all before the first step
  std::vector<Launches> steps;  ///< of successive steps, in turn
  Linked sums;                  ///< averages that a step starts from; empty: see `sums_of_start`
  Assigns needs;                ///< scalars that a step starts from
};

/// Initial values, with a kernel of scalars in front where there is nothing else to assign them.
Linked start_of(const physics::System& system, LoopSequence loops, Assigns alone) {
  Assigns start = std::move(alone);
  Linked chain = link(std::move(loops));
  append(start, chain.needs);
  if (chain.empty() || !start.empty()) {
    chain.kernels.insert(chain.kernels.begin(), scalar_kernel(system, "start", std::move(start)));
    chain.swaps.insert(chain.swaps.begin(), std::vector<int>{});
  }
  return chain;
}

/// The loops before the first step that compute what a step starts from beside the state, averages
/// and recovered values. Every later step gets them from the one before. Empty where the loops
/// before the first step change the state.
LoopSequence sums_of_start(const StepLoops& loops, const std::string& prefix) {
  const LoopSequence& first = loops.first;
  for (const kernel::SiteLoop& loop : first.sweeps)
    if (!loop.kernel.stores.empty() && !loops.first_renews) return {};
  LoopSequence sums = first;
  for (kernel::SiteLoop& loop : sums.sweeps) loop.kernel.name = prefix + loop.kernel.name;
  return sums;
}

/// A cycle of steps whose last one ends with a recentring, and with the sums and scalars that the
/// next step starts from.
void add_recentring(LoopSequence recentring, Linked sums, const Assigns& step_needs,
                    KernelList& kernels, std::vector<Launches>& steps) {
  Linked chain = link(std::move(recentring));
  if (chain.empty()) return;
  append(chain.end(), sums.needs);
  append(sums.empty() ? chain.end() : sums.end(), step_needs);
  steps.assign(kStepsBetweenRecentrings, steps.front());
  append(steps.back(), kernels.add_scalars("recentre_scalars", std::move(chain.needs)));
  append(steps.back(), kernels.add(std::move(chain)));
  append(steps.back(), kernels.add(std::move(sums)));
}

/// Scalars that every step starts from, whichever launch ended the one before, are computed at the
/// end of the checks. Scalars that the checks need are computed at the end of the step. Both are
/// computed before the first step.
StepLaunches add_steps(const physics::System& system, StepLoops loops, LoopSequence recentring,
                       Initial initial, Observer::Result checks, SolveLauncher& solves,
                       const Storage& storage, KernelList& kernels, program::Program& p) {
  StepLaunches result;
  Linked again = link(sums_of_start(loops, "recentred_"));
  result.sums = link(sums_of_start(loops, "renewed_"));
  Linked step = link(std::move(loops.step));
  std::vector<Linked> parts;
  Assigns step_needs = step.needs;
  for (StepPart& part : loops.parts) {
    parts.push_back(link(std::move(part.loops)));
    append(step_needs, parts.back().needs);
  }
  if (loops.in_order) {
    step_needs = parts.front().needs;
    for (std::size_t i = 1; i < parts.size(); ++i) append(parts[i - 1].end(), parts[i].needs);
    append(parts.back().end(), step.needs);
  }
  result.needs = step_needs;
  Linked check = link(std::move(checks.chain));
  Assigns end = std::move(checks.alone);
  append(end, check.needs);
  if (!check.empty()) append(check.end(), step_needs);
  append(end, step_needs);
  append(step.end(), end);

  for (StartPart& part : initial.before) {
    append(result.initial,
           kernels.add(start_of(system, std::move(part.chain), std::move(part.alone))));
    add_maps(part.maps, storage, result.initial, p);
    if (part.solve >= 0)
      append(result.initial, solves.launches(static_cast<std::size_t>(part.solve)));
  }
  Linked start = start_of(system, std::move(initial.chain), std::move(initial.alone));
  Linked first = link(std::move(loops.first));
  append(start.end(), loops.first_alone);
  append(start.end(), first.needs);
  append(first.empty() ? start.end() : first.end(), end);

  append(result.initial, kernels.add(std::move(start)));
  result.prologue = result.initial;
  const Launches first_launches = kernels.add(std::move(first));
  append(result.prologue, first_launches);
  if (loops.first_renews) p.kept_values = first_launches;
  const Launches stage = kernels.add(std::move(step));
  Launches rest;
  for (int i = 0; i < loops.stages; ++i) append(rest, stage);
  const Launches check_launches = kernels.add(std::move(check));
  append(rest, check_launches);
  append(result.prologue, check_launches);

  if (parts.empty()) {
    result.steps = {rest};
    add_recentring(std::move(recentring), std::move(again), step_needs, kernels, result.steps);
    return result;
  }
  std::vector<Launches> of_part;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int solve = loops.parts[i].solve;
    of_part.push_back(solve < 0 ? kernels.add(std::move(parts[i]))
                                : solves.launches(static_cast<std::size_t>(solve)));
    add_maps(loops.parts[i].maps, storage, of_part.back(), p);
  }
  for (const std::vector<int>& order : loops.cycle) {
    Launches& all = result.steps.emplace_back();
    for (const int part : order) append(all, of_part[static_cast<std::size_t>(part)]);
    append(all, rest);
  }
  return result;
}

/// The averages and scalars that a step starts from, computed from the present state.
void add_renewal(Linked sums, Assigns needs, KernelList& kernels, program::Program& p) {
  p.renewed_averages = kernels.add_scalars("renewed_start", std::move(sums.needs));
  append(p.renewed_averages, kernels.add(std::move(sums)));
  p.renewed_scalars = kernels.add_scalars("renewed_scalars", std::move(needs));
}

/// The linked loops of a cadence, or of the checks.
struct Observed {
  std::set<std::size_t> solves;
  bool split = false;  ///< by transforms on the host
  bool scalars = false;
  Linked sources, before, chain;
  std::vector<ArrayMap> maps;
  std::vector<Linked> stages;
};

/// Links the loops of an observer. `scalars` gets the scalars they need; one kernel computes those
/// of all observers.
Observed linked(Observer::Result loops, Assigns& scalars) {
  Observed result{std::move(loops.solves),
                  !loops.transforms.empty(),
                  false,
                  {},
                  {},
                  {},
                  std::move(loops.maps),
                  {}};
  Assigns needs = std::move(loops.alone);
  append(needs, loops.before_alone);
  append(needs, loops.sources_alone);
  result.sources = link(std::move(loops.sources));
  append(needs, result.sources.needs);
  result.before = link(std::move(loops.before));
  append(needs, result.before.needs);
  result.chain = link(std::move(loops.chain));
  append(needs, result.chain.needs);
  for (LoopSequence& stage : loops.stages) {
    result.stages.push_back(link(std::move(stage)));
    append(needs, result.stages.back().needs);
  }
  result.scalars = !needs.empty();
  append(scalars, needs);
  return result;
}

/// Kernels that an observer takes of another one, whose scalars it needs too.
struct Taken {
  std::size_t cadence = 0;
  std::vector<Assigns> after;  ///< scalars after each of the first kernels of the cadence
};

/// Takes kernels away from `watched` whose sums those of a cadence compute.
Taken take_shared(Observed& watched, const std::vector<Observed>& cadences,
                  const physics::System& system, const Storage& storage) {
  Taken taken;
  std::size_t most = 0;
  for (std::size_t i = 0; i < cadences.size(); ++i) {
    const Observed& made = cadences[i];
    if (made.split || !made.maps.empty() || !std::ranges::includes(watched.solves, made.solves))
      continue;
    const std::size_t shared = shared_sums(watched.chain, made.chain, storage);
    if (shared > most) most = shared, taken.cadence = i;
  }
  if (most == 0) return taken;
  const Observed& made = cadences[taken.cadence];
  watched.scalars = watched.scalars || made.scalars;
  for (std::size_t k = 0; k < most; ++k)
    taken.after.push_back(
        after_shared(watched.chain.kernels[k], made.chain.kernels[k], *system.arena));
  const auto count = static_cast<std::ptrdiff_t>(most);
  watched.chain.kernels.erase(watched.chain.kernels.begin(), watched.chain.kernels.begin() + count);
  watched.chain.swaps.erase(watched.chain.swaps.begin(), watched.chain.swaps.begin() + count);
  return taken;
}

/// The kernels of a cadence that `taken` shares, with the scalars after each of them.
Launches shared_launches(Taken taken, const Launches& made, KernelList& kernels) {
  Launches result;
  for (std::size_t k = 0; k < taken.after.size(); ++k) {
    result.push_back(made.at(k));
    append(result, kernels.add_scalars("watch_scalars", std::move(taken.after[k])));
  }
  return result;
}

/// Adds solves, the scalars of all observers, and the loops before and after the host's transforms;
/// `shared` runs before the loops after them. Returns the launches of these.
Launches add_observer(Observed loops, const Launches& synchronise, const Launches& shared,
                      SolveLauncher& solves, const physics::System& system, const Storage& storage,
                      KernelList& kernels, program::Program& p, Launches& before, Launches& after) {
  Launches& first = loops.split ? before : after;
  for (const std::size_t place : loops.solves) append(first, solves.launches(place));
  if (loops.scalars) append(first, synchronise);
  if (!loops.maps.empty()) {
    if (loops.sources.empty()) {
      loops.sources.kernels.push_back(before_map(system));
      loops.sources.swaps.emplace_back();
    }
    append(first, kernels.add(std::move(loops.sources)));
    add_maps(loops.maps, storage, first, p);
  }
  if (loops.split) append(before, kernels.add(std::move(loops.before)));
  append(after, shared);
  const Launches own = kernels.add(std::move(loops.chain));
  append(after, own);
  return own;
}

void add_averages(AverageScalars averages, KernelList& kernels, Launches& launches,
                  Launches& then) {
  const Launches before = kernels.add_scalars("averages", std::move(averages.before));
  launches.insert(launches.begin(), before.begin(), before.end());
  append(then, kernels.add_scalars("of_averages", std::move(averages.after)));
}

/// Outputs and what is watched, with their launches.
void add_observers(Outputs outputs, Watch watch, SolveLauncher& solves,
                   const physics::System& system, const Storage& storage, KernelList& kernels,
                   program::Program& p) {
  Assigns scalars;
  std::vector<Observed> cadences;
  p.outputs = std::move(outputs.written);
  for (Outputs::Cadence& cadence : outputs.cadences) {
    p.outputs[cadence.first].transforms = cadence.loops.transforms;
    cadences.push_back(linked(std::move(cadence.loops), scalars));
  }
  p.watch_transforms = watch.loops.transforms;
  Observed watched = linked(std::move(watch.loops), scalars);
  Taken taken = take_shared(watched, cadences, system, storage);
  Launches shared;
  const Launches synchronise = kernels.add_scalars("synchronise", std::move(scalars));
  for (std::size_t i = 0; i < cadences.size(); ++i) {
    const Outputs::Cadence& cadence = outputs.cadences[i];
    std::vector<Linked> stages = std::move(cadences[i].stages);
    program::Output& first = p.outputs[cadence.first];
    const Launches made = add_observer(std::move(cadences[i]), synchronise, {}, solves, system,
                                       storage, kernels, p, first.before, first.launches);
    if (i == taken.cadence) shared = shared_launches(std::move(taken), made, kernels);
    for (std::size_t k = 0; k < stages.size(); ++k)
      p.outputs[cadence.stages[k]].launches = kernels.add(std::move(stages[k]));
  }
  add_observer(std::move(watched), synchronise, shared, solves, system, storage, kernels, p,
               p.watch_before, p.watch);
  for (std::size_t i = 0; i < outputs.averages.size(); ++i) {
    add_averages(std::move(outputs.averages[i]), kernels, p.outputs[i].averages, p.outputs[i].then);
  }
  add_averages(std::move(watch.averages), kernels, p.watch, p.watch_then);
  p.watch_statistics = std::move(watch.statistics);
  p.expectations = std::move(watch.expectations);
  p.progress = std::move(watch.progress);
  p.unsound_slot = watch.unsound_slot;
  p.expansion = watch.expansion;
}

/// The clause of an exchange, which the runtime makes between sweeps and which writes nothing.
void take_exchange(const physics::System& system, const Tables& tables, program::Program& p) {
  const auto clause = std::ranges::find_if(
      system.outputs, [](const physics::OutputClause& c) { return c.exchange.has_value(); });
  if (clause == system.outputs.end()) return;
  const auto place = clause - system.outputs.begin();
  program::Output own = std::move(p.outputs[static_cast<std::size_t>(place)]);
  p.outputs.erase(p.outputs.begin() + place);
  program::Exchange& e = p.exchange;
  e.axis = static_cast<int>(clause->exchange->axis);
  e.every = own.every;
  e.launches = std::move(own.launches);
  e.above_slot = own.scalars.at(0).slot;
  e.below_slot = own.scalars.at(1).slot;
  for (const int array : clause->exchange->arrays)
    e.buffers.push_back(static_cast<int>(tables.storage.buffer_index(array)));
  const auto slot = [&](const char* name) { return tables.slots.index(name); };
  e.above_value_slot = slot(physics::Exchange::kAbove);
  e.below_value_slot = slot(physics::Exchange::kBelow);
  e.tried_slot = slot(physics::Exchange::kTried);
  e.made_slot = slot(physics::Exchange::kMade);
  e.replica_slot = slot(physics::Exchange::kReplica);
}

void refuse_swept_transforms(const program::Program& p, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics) {
  const bool transforms =
      !p.watch_transforms.empty() ||
      std::ranges::any_of(p.outputs, [](const auto& o) { return !o.transforms.empty(); });
  if (p.instances <= 1 || !transforms) return;
  const dsl::Clause* sweep = resolved.clause("sweep");
  diagnostics.add(errors::not_yet(sweep ? sweep->keyword_span : dsl::Span{},
                                  "a sweep of a model that transforms its fields for outputs"));
}

}  // namespace

Plan assemble(const physics::System& system, const dsl::Resolved& resolved, ReadyParts ready,
              Layout layout, bool renewal, dsl::Diagnostics& diagnostics) {
  Parts parts = std::move(ready).take();
  Plan plan;
  program::Program& p = plan.program;
  p = facts_of(system, resolved);
  p.state = std::move(layout.state);
  p.random = std::move(layout.random);
  p.time_slot = parts.checks.time_slot;
  plan.remarks = parts.step.remarks;

  KernelList kernels(system, layout.tables.storage);
  SolveLauncher solves(std::move(parts.solves), kernels);
  StepLaunches steps = add_steps(system, std::move(parts.step), std::move(parts.recentring),
                                 std::move(parts.initial), std::move(parts.checks.loops), solves,
                                 layout.tables.storage, kernels, p);
  p.prologue = std::move(steps.prologue);
  p.step = steps.steps.front();
  if (steps.steps.size() > 1) p.cycle = std::move(steps.steps);
  add_observers(std::move(parts.outputs), std::move(parts.watch), solves, system,
                layout.tables.storage, kernels, p);
  take_exchange(system, layout.tables, p);
  if (renewal) add_renewal(std::move(steps.sums), std::move(steps.needs), kernels, p);
  p.solves = solves.described();
  plan.remarks.insert(plan.remarks.end(), solves.remarks().begin(), solves.remarks().end());
  plan.kernels = std::move(kernels).take();

  number_draws(system, steps.initial, plan.kernels);
  add_tables(system, layout.tables, plan);
  add_costs(plan);
  refuse_swept_transforms(p, resolved, diagnostics);
  return plan;
}

}  // namespace vphi::schedule
