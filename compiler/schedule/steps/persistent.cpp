#include "compiler/schedule/steps/persistent.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "compiler/schedule/steps/multi_step.hpp"

namespace vphi::schedule {
namespace {

using kernel::Kernel;

bool may_be_stage(const program::Launch& launch, const Plan& plan) {
  const Kernel& k = plan.kernels[static_cast<std::size_t>(launch.kernel)];
  const bool in_place = std::ranges::none_of(k.arrays, [](const auto& a) { return a.next; });
  const bool numbered = k.random.draws == 0 || !k.random.instance.empty();
  return launch.swap.empty() && launch.solve < 0 && launch.maps.empty() && k.dims == 1 &&
         k.along < 0 && !k.colours && k.steps == 1 && in_place && numbered;
}

}  // namespace

std::optional<Kernel> persistent_kernel_of(const Plan& plan) {
  const program::Program& p = plan.program;
  const auto fits = [&](const program::Launch& l) { return may_be_stage(l, plan); };
  if (!p.multi_step.empty() || !p.cycle.empty() || p.step.empty() || p.step_slot < 0 ||
      (p.sites() == 1 && p.instances > 1) || !std::ranges::all_of(p.step, fits))
    return std::nullopt;
  std::size_t period = 1;
  const auto repeats = [&](std::size_t n) {
    if (p.step.size() % n != 0) return false;
    for (std::size_t i = n; i < p.step.size(); ++i)
      if (p.step[i].kernel != p.step[i - n].kernel) return false;
    return true;
  };
  while (!repeats(period)) ++period;
  Kernel persistent;
  std::map<std::string, int> known;  // stages of one name do the same
  for (std::size_t i = 0; i < period; ++i) {
    const int number = p.step[i].kernel;
    Kernel stage = plan.kernels[static_cast<std::size_t>(number)];
    while (known.try_emplace(stage.name, number).first->second != number) stage.name += "_again";
    persistent.stages.push_back(std::move(stage));
  }
  persistent.stage_repeats = static_cast<std::int64_t>(p.step.size() / period);
  const Kernel& first = persistent.stages.front();
  persistent.name = first.name + "_multi_step";
  persistent.comment = first.comment;
  persistent.dims = first.dims;
  persistent.extent = first.extent;
  persistent.boundary = first.boundary;
  persistent.instances = first.instances;
  persistent.compute = first.compute;
  persistent.steps_slot = kMultiStep;
  for (const Kernel& stage : persistent.stages) {
    for (const kernel::ArrayParam& array : stage.arrays) {
      const auto same =
          std::ranges::find(persistent.arrays, array.array, &kernel::ArrayParam::array);
      if (same == persistent.arrays.end()) {
        persistent.arrays.push_back(array);
      } else {
        same->read = same->read || array.read;
        same->written = same->written || array.written;
      }
    }
  }
  return persistent;
}

void add_persistent(Plan& plan, Kernel persistent, kernel::Reach reach, int threads) {
  const auto cut = [&](Kernel& k) { k.reach = reach, k.threads = threads; };
  for (const program::Launch& launch : plan.program.step)
    cut(plan.kernels[static_cast<std::size_t>(launch.kernel)]);
  for (Kernel& stage : persistent.stages) cut(stage);
  cut(persistent);
  add_multi_step(plan, std::move(persistent));
}

}  // namespace vphi::schedule
