#include "compiler/schedule/parts.hpp"

#include <set>
#include <vector>

namespace vphi::schedule {
namespace {

std::vector<Observer::Result*> observed(Parts& parts) {
  std::vector<Observer::Result*> all{&parts.watch.loops};
  for (Outputs::Cadence& cadence : parts.outputs.cadences) all.push_back(&cadence.loops);
  return all;
}

/// All loops, in the order in which the passes give names to their scalars.
std::vector<LoopSequence*> sequences(Parts& parts) {
  std::vector<LoopSequence*> all{&parts.initial.chain, &parts.step.first, &parts.step.step,
                                 &parts.checks.loops.chain, &parts.watch.loops.chain};
  for (StartPart& part : parts.initial.before) all.push_back(&part.chain);
  for (Observer::Result* result : observed(parts)) {
    if (!result->transforms.empty()) all.push_back(&result->before);
    if (!result->maps.empty()) all.push_back(&result->sources);
  }
  for (Outputs::Cadence& cadence : parts.outputs.cadences) {
    all.push_back(&cadence.loops.chain);
    for (LoopSequence& stage : cadence.loops.stages) all.push_back(&stage);
  }
  for (StepPart& part : parts.step.parts) all.push_back(&part.loops);
  all.push_back(&parts.recentring);
  for (auto& [place, solve] : parts.solves.loops) {
    for (SolveLoops* part = &solve; part; part = part->inner.get())
      all.insert(all.end(),
                 {&part->start, &part->restart, &part->iteration, &part->finish, &part->rest});
  }
  for (auto& [place, copies] : parts.solves.copies)
    all.insert(all.end(), {&copies.load, &copies.save});
  return all;
}

/// All scalars that no loop assigns.
std::vector<Assigns*> scalars(Parts& parts) {
  std::vector<Assigns*> all{&parts.initial.alone, &parts.step.first_alone,
                            &parts.checks.loops.alone, &parts.watch.averages.before,
                            &parts.watch.averages.after};
  for (StartPart& part : parts.initial.before) all.push_back(&part.alone);
  for (Observer::Result* result : observed(parts))
    all.insert(all.end(), {&result->alone, &result->before_alone, &result->sources_alone});
  for (AverageScalars& averages : parts.outputs.averages)
    all.insert(all.end(), {&averages.before, &averages.after});
  for (auto& [place, solve] : parts.solves.loops) {
    for (SolveLoops* part = &solve; part; part = part->inner.get()) all.push_back(&part->alone);
  }
  for (auto& [place, copies] : parts.solves.copies) all.push_back(&copies.load_alone);
  return all;
}

}  // namespace

std::optional<ColumnPlan> columns_of(const physics::System& system, const Initial& initial,
                                     const StepLoops& step, const Outputs& outputs,
                                     const Watch& watch, int registers,
                                     dsl::Diagnostics& diagnostics) {
  std::vector<std::vector<std::size_t>> in_step;
  for (const StartPart& part : initial.before)
    if (part.solve >= 0) in_step.push_back({static_cast<std::size_t>(part.solve)});
  for (const StepPart& part : step.parts) {
    if (part.solve < 0) continue;
    const auto leader = static_cast<std::size_t>(part.leader);
    if (part.leader < 0 || in_step.empty() || in_step.back().front() != leader)
      in_step.emplace_back();
    in_step.back().push_back(static_cast<std::size_t>(part.solve));
  }
  std::vector<std::set<std::size_t>> launched{watch.loops.solves};
  for (const Outputs::Cadence& cadence : outputs.cadences) launched.push_back(cadence.loops.solves);
  return plan_columns(system, launched, in_step, registers, diagnostics);
}

std::optional<ReadyParts> with_passes(Parts parts, Slots& slots, const std::string& stop_after,
                                      dsl::Diagnostics& diagnostics) {
  if (!run_passes(sequences(parts), scalars(parts), slots, stop_after, diagnostics))
    return std::nullopt;
  return ReadyParts(std::move(parts));
}

}  // namespace vphi::schedule
