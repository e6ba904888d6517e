#include "compiler/schedule/solver/solves.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/kernel/kernel.hpp"
#include "compiler/schedule/model_line.hpp"

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
                                  const std::vector<std::size_t>& wanted, Tables& tables,
                                  dsl::Diagnostics& diagnostics) {
  auto& [slots, storage] = tables;
  Solves result;
  std::map<std::size_t, SharedSolve> shared;  // by the first of those with one operator
  for (const std::size_t place : wanted) {
    const int like = system.solves[place].like;
    const std::size_t first = like < 0 ? place : static_cast<std::size_t>(like);
    result.first[place] = first;
    const bool many = std::ranges::any_of(system.solves, [&](const physics::LinearSystem& other) {
      return other.like == static_cast<int>(first);
    });
    if (many && !shared.contains(first)) {
      shared.emplace(first, share_solve(system, system.solves[first],
                                        fmt::format("s{}", shared.size() + 1), slots, storage));
    }
    if (!result.loops.contains(first)) {
      const physics::LinearSystem& solve = many ? shared.at(first).system : system.solves[first];
      auto made = solve.wide
                      ? make_solve(widened(system), solve, stepping, slots, storage, diagnostics)
                      : make_solve(system, solve, stepping, slots, storage, diagnostics);
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
      result.loops.emplace(first, std::move(*made));
    }
    if (many && !result.copies.contains(place)) {
      SolveCopies copies =
          copies_of(system, shared.at(first), system.solves[place], stepping, slots, storage);
      Solves::Copies& own = result.copies[place];
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
  const std::size_t first = solves_.first.at(place);
  if (!shared_.contains(first))
    shared_.emplace(first, begin(std::move(solves_.loops.at(first))).start);
  const auto copies = solves_.copies.find(place);
  const Launches& solve = shared_.at(first);
  return known_[place] =
             copies == solves_.copies.end() ? solve : with_copies(solve, std::move(copies->second));
}

Launches SolveLauncher::with_copies(const Launches& solve, Solves::Copies copies) {
  const std::string name = copies.load.sweeps.front().kernel.name + "_scalars";
  Linked load = link(std::move(copies.load)), save = link(std::move(copies.save));
  Assigns before = std::move(copies.load_alone);
  append(before, load.needs);
  const Assigns then = save.needs;
  Launches all = kernels_.add_scalars(name, std::move(before));
  append(all, kernels_.add(std::move(load)));
  append(all, solve);
  append(all, kernels_.add_scalars(name + "_end", then));
  append(all, kernels_.add(std::move(save)));
  return all;
}

SolveLauncher::Begin SolveLauncher::begin(SolveLoops loops) {
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
  const Launches rest_launches = kernels_.add(std::move(rest));
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
