#include "compiler/schedule/solver/solves.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/kernel/kernel.hpp"
#include "compiler/physics/chains/gauge_fixing.hpp"
#include "compiler/physics/spinors/stored_blocks.hpp"
#include "compiler/schedule/model_line.hpp"
#include "compiler/schedule/solver/relaxation.hpp"
#include "compiler/schedule/solver/stored.hpp"

namespace vphi::schedule {

namespace {

/// The system with all arithmetic and memory in f64.
physics::System widened(physics::System system) {
  system.numerics.real = system.numerics.store = physics::Precision::F64;
  system.numerics.stores.clear();
  return system;
}

}  // namespace

std::optional<Solves> make_solves(const physics::System& system, const dsl::Resolved& resolved,
                                  const Stepping& stepping, const SolutionMemory&,
                                  ColumnPlan columns, Tables& tables,
                                  dsl::Diagnostics& diagnostics) {
  auto& [slots, storage] = tables;
  Solves result;
  result.remarks = std::move(columns.remarks);
  result.places = std::move(columns.places);
  const Stepping at_rest = {};  // nothing is missing in the state before the first step
  // by the first of those with one operator, one for each right side of a go
  std::map<std::size_t, std::vector<SharedSolve>> shared;
  const auto share = [&](std::size_t first, std::size_t count) {
    std::vector<SharedSolve>& all = shared[first];
    if (all.empty()) {
      all.push_back(share_solve(system, system.solves[first], fmt::format("s{}", shared.size()),
                                slots, storage));
    }
    while (all.size() < count) {
      const std::string& name = all.front().system.iterations;
      all.push_back(further_column(
          system, all.front(),
          fmt::format("{}c{}", name.substr(name.rfind('_') + 1), all.size() + 1), slots, storage));
    }
  };
  for (const auto& [place, own_place] : result.places) {
    if (own_place.systems.empty()) continue;
    const std::size_t first = own_place.first;
    const auto count = static_cast<std::size_t>(own_place.together);
    const bool many = std::ranges::any_of(system.solves, [&](const physics::LinearSystem& other) {
      return other.like == static_cast<int>(first);
    });
    if (many) share(first, count);
    const Solves::Key key{first, own_place.together};
    if (!result.loops.contains(key)) {
      std::vector<physics::LinearSystem> solves;
      for (std::size_t i = 0; i < count; ++i)
        solves.push_back(many ? shared.at(first)[i].system : system.solves[own_place.systems[i]]);
      const physics::LinearSystem& solve = solves.front();
      for (physics::LinearSystem& other : solves) other.solver = solve.solver;  // one text for all
      const Stepping& missing = solve.at_start ? at_rest : stepping;
      std::optional<SolveLoops> made;
      const auto relaxation = physics::relaxation_of(solve);
      if (relaxation) result.remarks.push_back(relaxation->update.shown);
      if (physics::only_stored(solve))
        made = make_stored(solve.wide ? widened(system) : system, solve, missing, slots, storage);
      else if (relaxation)
        made = make_relaxation(widened(system), solve, *relaxation, missing, slots, storage);
      else
        made = solve.wide ? make_solve(widened(system), solves, own_place.products, missing, slots,
                                       storage, diagnostics)
                          : make_solve(system, solves, own_place.products, missing, slots, storage,
                                       diagnostics);
      if (!made) return std::nullopt;
      const ModelLine line = line_of(resolved, solve.span);
      for (SolveLoops* part = &*made; part; part = part->inner.get()) {
        part->described.line = line.text;
        part->described.line_number = line.number;
      }
      if (solve.even_odd) {
        result.remarks.push_back(
            fmt::format("`{}` is solved at odd sites alone: every other term of its operator leads "
                        "to the other parity, and what is left at even ones has an inverse",
                        solve.name));
      }
      result.loops.emplace(key, std::move(*made));
    }
    for (std::size_t i = 0; many && i < count; ++i) {
      const std::size_t one = own_place.systems[i];
      SolveCopies copies =
          copies_of(system, shared.at(first)[i], system.solves[one], stepping, slots, storage);
      Solves::Copies& own = result.copies[one];
      own.load_alone = std::move(copies.load.alone);
      own.load = sequence_of(std::move(copies.load));
      own.save = sequence_of(std::move(copies.save));
    }
  }
  return result;
}

const Launches& SolveLauncher::launches(std::size_t place) {
  const auto known = known_.find(place);
  if (known != known_.end()) return known->second;
  const ColumnPlace& own = solves_.places.at(place);
  if (own.systems.empty()) return known_[place] = {};
  const Solves::Key key{own.first, own.together};
  if (!shared_.contains(key)) shared_.emplace(key, begin(std::move(solves_.loops.at(key))).start);
  return known_[place] = with_copies(shared_.at(key), own.systems);
}

Launches SolveLauncher::with_copies(const Launches& solve,
                                    const std::vector<std::size_t>& systems) {
  Launches before, after;
  for (const std::size_t place : systems) {
    const auto found = solves_.copies.find(place);
    if (found == solves_.copies.end()) continue;
    Solves::Copies copies = std::move(found->second);
    const std::string name = copies.load.sweeps.front().kernel.name + "_scalars";
    Linked load = link(std::move(copies.load)), save = link(std::move(copies.save));
    Assigns needs = std::move(copies.load_alone);
    append(needs, load.needs);
    const Assigns then = save.needs;
    append(before, kernels_.add_scalars(name, std::move(needs)));
    append(before, kernels_.add(std::move(load)));
    append(after, kernels_.add_scalars(name + "_end", then));
    append(after, kernels_.add(std::move(save)));
  }
  append(before, solve);
  append(before, after);
  return before;
}

SolveLauncher::Begin SolveLauncher::begin(SolveLoops loops) {
  if (loops.iteration.sweeps.empty()) {  // values that are only stored
    Linked once = link(std::move(loops.start));
    Assigns before = std::move(loops.alone);
    append(before, once.needs);
    Launches launches =
        kernels_.add_scalars(once.kernels.front().name + "_scalars", std::move(before));
    append(launches, kernels_.add(std::move(once)));
    return {std::move(launches), {}};
  }
  Begin inner;
  if (loops.inner) inner = begin(std::move(*loops.inner));
  program::Solve solve = std::move(loops.described);
  const std::string name = loops.start.sweeps.front().kernel.name;
  Linked iteration = link(std::move(loops.iteration)), rest = link(std::move(loops.rest));
  Linked start = link(std::move(loops.start)), finish = link(std::move(loops.finish));
  Assigns of_iteration = iteration.needs;
  append(of_iteration, rest.needs);
  append(start.end(), of_iteration);
  append(iteration.end(), of_iteration);
  Assigns first = std::move(loops.alone);
  append(first, start.needs);

  Launches launches = kernels_.add_scalars(name + "_scalars", std::move(first));
  append(launches, kernels_.add(std::move(start)));
  const std::size_t before = kernels_.kernels().size();
  const Launches once = kernels_.add(std::move(rest));
  Launches rest_launches;
  for (int i = 0; i < loops.rest_times; ++i) append(rest_launches, once);
  const Launches own_launches = kernels_.add(std::move(iteration));
  const auto whole = [&](const Launches& within) {
    Launches all = rest_launches;
    append(all, within);
    append(all, own_launches);
    return all;
  };
  solve.iterate = whole(inner.restart.empty() ? inner.start : inner.restart);
  // the first iteration begins the inner solve
  if (!inner.restart.empty()) append(launches, whole(inner.start));

  const std::size_t count = kernels_.kernels().size() - before;
  int bytes = 0;
  for (std::size_t i = before; i < kernels_.kernels().size(); ++i)
    bytes += kernel::cost(kernels_.kernels()[i]).bytes;
  solves_.remarks.push_back(
      fmt::format("`{}` takes {} {} and {} bytes a site in each iteration of `{}`", solve.name,
                  count, count == 1 ? "kernel" : "kernels", bytes, solve.solver));

  solve.finish = kernels_.add_scalars(name + "_scalars_end", std::move(finish.needs));
  append(solve.finish, kernels_.add(std::move(finish)));
  Launches restart;
  if (!loops.restart.sweeps.empty()) {
    Linked again = link(std::move(loops.restart));
    restart = kernels_.add_scalars(name + "_again", std::move(again.needs));
    append(restart, kernels_.add(std::move(again)));
    restart.back().solve = static_cast<int>(described_.size());
  }
  launches.back().solve = static_cast<int>(described_.size());
  described_.push_back(std::move(solve));
  return {std::move(launches), std::move(restart)};
}

}  // namespace vphi::schedule
